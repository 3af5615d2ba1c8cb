import { type Context, openDevice, type OpenOptions } from '../../entry/index.js';
import { attempt } from './errors.js';
import { type HostingOptions, openOptions } from './options.js';

/** The device of streams: the one at --addr, or how one is opened that the other addresses call for. */
export function streamDevice(flags: HostingOptions): {
  readonly context?: Context;
  readonly open?: Omit<OpenOptions, 'address' | 'device'>;
} {
  const { address, ...open } = openOptions(flags);
  if (address === undefined) return { open };
  return { context: attempt("Couldn't open the device", () => openDevice({ ...open, address })) };
}
