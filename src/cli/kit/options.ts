import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  type Context,
  type HostChoice,
  type Mtu,
  mtuBytes,
  mtuFromBytes,
  openDevice,
  type OpenOptions,
} from '../../entry/index.js';
import { withoutBrackets } from './arguments.js';
import { attempt, warn } from './errors.js';

/** The device of streams: the one at --addr, or how one is opened that the other addresses call for. */
export function streamDevice(flags: HostingOptions): {
  readonly context?: Context;
  readonly open?: Omit<OpenOptions, 'address' | 'device'>;
} {
  const { address, ...open } = openOptions(flags);
  if (address === undefined) return { open };
  return { context: attempt("Couldn't open the device", () => openDevice({ ...open, address })) };
}

/** A parser for whole numbers, decimal or 0x, as strtoul(…, 0) takes them, that refuses what strtoul lets pass. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^(0x[0-9a-f]+|\d+)$/i.test(text) ? Number(text) : NaN;
    if (!(value >= min && value <= max)) throw new InvalidArgumentError(`Give a number from ${min} to ${max}.`);
    return value;
  };
}

/** An option that takes a whole number. */
export function numberOption(flags: string, what: string, min: number, max: number, preset?: number): Option {
  return new Option(flags, what).argParser(wholeNumber(min, max)).default(preset);
}

/** A parser for a path MTU in bytes. */
export function pathMtu(text: string): Mtu {
  const mtu = mtuFromBytes(Number(text));
  if (mtu === undefined || mtuBytes(mtu) !== Number(text))
    throw new InvalidArgumentError('A path MTU is 256, 512, 1024, 2048 or 4096.');
  return mtu;
}

export interface HostingOptions {
  readonly host?: HostChoice;
  readonly addr?: string;
  readonly netem?: string;
}

/** Adds the options that every tool with a device of its own has. */
export function withHosting(command: Command, addrDefault = 'VERBENA_ADDR, or a free loopback address'): Command {
  return command
    .addOption(
      new Option(
        '--host <how>',
        'where the NIC runs: in a thread of its own, inline in this one, or auto: inline, with a stand-in (default: VERBENA_HOST, or what suits the tool)',
      ).choices(['thread', 'inline', 'auto']),
    )
    .option('--addr <address>', `IP address of the device (default: ${addrDefault})`)
    .option('--netem <words>', 'what happens to packets on their way, such as "loss 1%" (default: VERBENA_NETEM)');
}

/** The options of `device.open()` that the command line asked for. */
export function openOptions(options: HostingOptions): OpenOptions {
  return {
    warn,
    ...(options.host === undefined ? {} : { host: options.host }),
    ...(options.addr === undefined ? {} : { address: withoutBrackets(options.addr) }),
    ...(options.netem === undefined ? {} : { netem: options.netem }),
  };
}
