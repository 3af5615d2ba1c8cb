import { Command, InvalidArgumentError, Option } from 'commander';
import { type CmId, CmOption, type PortSpace } from '../../../entry/index.js';
import { ToolError } from '../../kit/errors.js';
import { type HostingOptions, wholeNumber } from '../../kit/options.js';
import { addressOf } from '../../kit/addresses.js';
import { withCmHosting } from './hosting.js';

/** The options of the tools that make any number of connections and exchange messages over each. */
export interface NodeFlags extends HostingOptions {
  /** The server's host; without it, this side is the server. */
  readonly s?: string;
  readonly b?: string;
  readonly f: 'name' | 'ip' | 'ipv6' | 'gid';
  readonly P: PortSpace;
  readonly c: number;
  readonly C: number;
  readonly S: number;
  readonly t?: number;
  readonly json?: true;
}

const MAX_CONNECTIONS = 10_000;
const MAX_MESSAGES = 16_384;
const MAX_BYTES = 2 ** 31;

/** A number; `preset` absent: none is given. */
export function numberOption(flags: string, what: string, min: number, max: number, preset?: number): Option {
  return new Option(flags, what).argParser(wholeNumber(min, max)).default(preset);
}

export function nodeCommand(name: string, description: string): Command {
  const command = new Command(name)
    .description(description)
    .option('-s <server_address>', 'be the client of the server with that name or address (default: be the server)')
    .option(
      '-b <bind_address>',
      'address of this side (default: server: any; client: what the way to the server asks for)',
    )
    .addOption(
      new Option('-f <address_format>', 'what -s and -b are').choices(['name', 'ip', 'ipv6', 'gid']).default('name'),
    )
    .addOption(numberOption('-c <connections>', 'how many', 1, MAX_CONNECTIONS, 1))
    .addOption(numberOption('-C <message_count>', 'messages over each, in each direction', 0, MAX_MESSAGES, 10))
    .addOption(numberOption('-S <message_size>', 'bytes of each message', 0, MAX_BYTES, 100))
    .addOption(numberOption('-t <type_of_service>', 'type of service of the packets', 0, 0xff));
  return withCmHosting(command);
}

/** The option -P, by the names that a tool has for port spaces; the first is the default. */
export function portSpaceOption(spaces: Readonly<Record<string, PortSpace>>): Option {
  const names = Object.keys(spaces);
  return new Option('-P <port_space>', `port space: ${names.join(' or ')}`)
    .argParser((text): PortSpace => {
      const found = Object.entries(spaces).find(([name]) => name === text.toLowerCase());
      if (found === undefined) throw new InvalidArgumentError(`Give ${names.join(' or ')}.`);
      return found[1];
    })
    .default(Object.values(spaces)[0], names[0]);
}

/** What is sent over each connection: without bytes no messages, as in the C tools. */
export function messagesOf({ C: count, S: sizeBytes }: NodeFlags): {
  readonly count: number;
  readonly sizeBytes: number;
} {
  return { count: sizeBytes === 0 ? 0 : count, sizeBytes };
}

/** The address behind a host that was given by -s or -b. */
export function nodeAddress(host: string, { f: format }: NodeFlags): Promise<string> {
  if (format === 'gid') {
    throw new ToolError('-f gid is for InfiniBand; the GIDs of RoCE are IP addresses: give one, -f ip.');
  }
  return addressOf(host, format !== 'name');
}

/** The address of this side, when it is given. */
export async function ownAddress(flags: NodeFlags): Promise<string | undefined> {
  return flags.b === undefined ? undefined : await nodeAddress(flags.b, flags);
}

/** Sets the options that the command line has for an identifier, once its address is resolved. */
export function setTos(id: CmId, { t: tos }: NodeFlags): void {
  if (tos !== undefined) id.setOption(CmOption.TOS, tos);
}

export function nodeFacts(tool: string, flags: NodeFlags): object {
  const { count: messages, sizeBytes } = messagesOf(flags);
  return { tool, role: flags.s === undefined ? 'server' : 'client', connections: flags.c, messages, sizeBytes };
}
