import { getDevices, type SocketAddress } from '../../entry/index.js';
import type { HostingOptions } from './options.js';

/** Where a server listens when it is told nothing and the address is free, as its help says. */
const DEFAULT_HOST = '127.0.0.1';
const ANY: ReadonlySet<string> = new Set(['', '0.0.0.0', '::']);

/**
 * The addresses at which a server listens. A server at a wildcard listens on all devices of the program.
 *
 * @param own the address of the tool's only device, where it opened one itself. Listing the program's devices would open another
 */
export function hostsOf(address: string, own?: string): readonly string[] {
  if (!ANY.has(address)) return [address];
  const hosts = own === undefined ? getDevices().map((context) => context.address) : [own];
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
  for (const host of hostsOf(at.host, addr))
    if (host !== (wanted ?? DEFAULT_HOST)) process.stderr.write(`server at ${host}, port ${at.port ?? 0}\n`);
}
