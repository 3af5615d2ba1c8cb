import { type Command, InvalidArgumentError, Option } from 'commander';
import { PortSpace, QpType } from '../../../entry/index.js';
import { type HostingOptions, wholeNumber, withHosting } from '../../kit/options.js';

export interface OneMessageFlags extends HostingOptions {
  readonly s: string;
  readonly p: number;
}

const PORT = 7471;
export const LOOPBACK = '127.0.0.1';

/** Adds what all of the tools have; `serverSide` says what -s means, for those that have it. */
export function withOneMessageFlags(
  command: Command,
  address?: { readonly what: string; readonly preset: string },
): Command {
  if (address !== undefined) command.option('-s <address>', address.what, address.preset);
  command.addOption(new Option('-p <port>', 'port of the server').argParser(wholeNumber(1, 65535)).default(PORT));
  return withHosting(
    command,
    'the one that the other addresses call for, else VERBENA_ADDR, or a free loopback address',
  );
}

/** What a connection is made of. */
export interface Communication {
  readonly portSpace: PortSpace;
  readonly active: QpType;
  readonly passive: QpType;
}

const RC: Communication = { portSpace: PortSpace.TCP, active: QpType.RC, passive: QpType.RC };
const XRC: Communication = { portSpace: PortSpace.IB, active: QpType.XRC_SEND, passive: QpType.XRC_RECV };

function communication(text: string): Communication {
  const kind = text.charAt(0).toLowerCase();
  if (kind === 'r') return RC;
  if (kind === 'x') return XRC;
  throw new InvalidArgumentError('It is r (RC) or x (XRC).');
}

/** The option -c. */
export function communicationOption(): Option {
  return new Option('-c <type>', 'r: reliable connection (RC); x: extended reliable connection (XRC)')
    .argParser(communication)
    .default(RC, 'r');
}
