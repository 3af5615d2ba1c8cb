import { getDevices, type SocketAddress } from '../../../index.js';
import type { HostingOptions } from './options.js';

/** Where a server listens when it is told nothing and the address is free, as its help says. */
const DEFAULT_HOST = '127.0.0.1';
const ANY: ReadonlySet<string> = new Set(['', '0.0.0.0', '::']);

/** Where a server is that listens at an address: at any, on all devices of this program. */
export function hostsOf(address: string): readonly string[] {
  const hosts = ANY.has(address) ? getDevices().map((context) => context.address) : [address];
  return hosts.length === 0 ? [address] : [...new Set(hosts)];
}

/**
 * Prints on standard error where a server listens, unless that is where the user expects it: at the address that was asked
 * for, or at 127.0.0.1 when none was.
 *
 * @param asked the server's address as the command line has it; undefined when it has none
 */
export function tellListening(
  at: SocketAddress | undefined,
  asked: string | undefined,
  { addr }: HostingOptions,
): void {
  if (at?.host === undefined) return;
  const wanted = [asked, addr, process.env['VERBENA_ADDR']].find((each) => each !== undefined && !ANY.has(each));
  for (const host of hostsOf(at.host))
    if (host !== (wanted ?? DEFAULT_HOST)) process.stderr.write(`server at ${host}, port ${at.port ?? 0}\n`);
}
