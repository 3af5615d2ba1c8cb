import { Command, InvalidArgumentError, Option } from 'commander';
import { addressOf } from '../../kit/addresses.js';
import { withCmHosting } from '../../rdmacm/common/hosting.js';
import { ToolError } from '../../kit/errors.js';
import { type HostingOptions, streamDevice, wholeNumber, numberOption } from '../../kit/options.js';
import type { Route } from './rsocket-carrier.js';

/** The options that rstream and riostream have in common. */
export interface StreamFlags extends HostingOptions {
  readonly s?: string;
  readonly b?: string;
  readonly f: 'name' | 'ip' | 'ipv6' | 'gid';
  readonly B: number;
  readonly i: number;
  readonly I?: number;
  readonly C?: number;
  readonly S?: number | 'all';
  readonly p: number;
  /** By the names of {@link streamCommand}. */
  readonly T: ReadonlySet<string>;
  readonly json?: true;
}

const PORT = 7471;
const BUFFER_BYTES = 1 << 19;
const INLINE_BYTES = 64;
const MAX_INLINE = 0xfffe;
const MAX_COUNT = 2 ** 31 - 1;
/** Larger ones would not fit in memory beside everything else. */
const MAX_BYTES = 1 << 30;

/** `all`, or a number of bytes. */
function size(text: string): number | 'all' {
  return text.toLowerCase().startsWith('all') ? 'all' : wholeNumber(1, MAX_BYTES)(text);
}

/** The words that -T takes, each by its first letter or as C's tools have it, whole or longer. */
export function testOption(words: Readonly<Record<string, string>>): Option {
  const names = Object.keys(words);
  const list = Object.entries(words).map(([name, what]) => `${name.charAt(0)}|${name}: ${what}`);
  return new Option('-T <test_option>', `once or more: ${list.join('; ')}`)
    .argParser((text: string, chosen: ReadonlySet<string>): ReadonlySet<string> => {
      const found = names.find(
        (name) => text === name.charAt(0) || (text.length > 1 && text.toLowerCase().startsWith(name)),
      );
      if (found === undefined) throw new InvalidArgumentError(`Give one of ${names.join(', ')}.`);
      return new Set([...chosen, found]);
    })
    .default(new Set<string>(), 'none');
}

export function streamCommand(name: string, description: string, words: Readonly<Record<string, string>>): Command {
  const command = new Command(name)
    .description(description)
    .option('-s <server_address>', 'be the client of the server with that name or address (default: be the server)')
    .option('-b <bind_address>', 'address of this side')
    .addOption(
      new Option('-f <address_format>', 'what -s and -b are').choices(['name', 'ip', 'ipv6', 'gid']).default('name'),
    )
    .addOption(numberOption('-B <buffer_size>', 'SO_SNDBUF and SO_RCVBUF', 1, MAX_BYTES, BUFFER_BYTES))
    .addOption(numberOption('-i <inline_size>', 'RDMA_INLINE of the latency tests', 0, MAX_INLINE, INLINE_BYTES))
    .addOption(numberOption('-I <iterations>', 'one custom test, so often', 1, MAX_COUNT))
    .addOption(numberOption('-C <transfer_count>', 'one custom test, of so many transfers each way', 1, MAX_COUNT))
    .addOption(
      new Option('-S <transfer_size>', 'one custom test, of so many bytes a transfer; or all sizes').argParser(size),
    )
    .addOption(numberOption('-p <port_number>', 'port of the server', 1, 65_535, PORT))
    .addOption(testOption(words));
  return withCmHosting(command);
}

async function resolved(host: string | undefined, { f: format }: StreamFlags): Promise<string | undefined> {
  if (host === undefined) return undefined;
  if (format === 'gid')
    throw new ToolError('-f gid is for InfiniBand; the GIDs of RoCE are IP addresses: give one, -f ip.');
  return addressOf(host, format !== 'name');
}

/** Where the sides are that the command line names. */
export async function routeOf(flags: StreamFlags): Promise<Route> {
  const destination = await resolved(flags.s, flags);
  const source = await resolved(flags.b, flags);
  return {
    ...(destination === undefined ? {} : { destination }),
    ...(source === undefined ? {} : { source }),
    port: flags.p,
    device: streamDevice(flags),
  };
}
