import { type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type Context, type Device, VerbsError } from '../../entry/index.js';
import { attempt, ToolError } from '../kit/errors.js';
import { type HostingOptions, openOptions } from '../kit/options.js';
import { isHere, isLoopback, openFirst, spinningHosts } from '../kit/spinning.js';

const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

type Family = 'IPv4' | 'IPv6';

/** Addresses of this machine of that family at which a NIC can talk to another one here; link-local ones cannot. */
function ownAddresses(family: Family): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter((own) => own.family === family && !own.address.startsWith('fe80:'))
    .map(({ address }) => address);
}

/** Opens the device at the first address that is free: `first`, then any other of this machine. */
function openFree(device: Device, options: HostingOptions, family: Family, first: string): Context {
  const addresses = new Set([first, ...ownAddresses(family)]);
  for (const address of addresses) {
    try {
      return device.open({ ...openOptions(options), address });
    } catch (error) {
      const taken = error instanceof VerbsError && (error.errno === 'EADDRINUSE' || error.errno === 'EADDRNOTAVAIL');
      if (!taken) throw error;
    }
  }
  // Of IPv4 a machine has millions of addresses on loopback, and the device finds a free one.
  if (family === 'IPv4') return device.open(openOptions(options));
  throw new ToolError(
    `All IPv6 addresses of this machine are taken by other NICs (${[...addresses].join(', ')}); ` +
      'add one, as root: ip -6 addr add fd00:7::2/128 dev lo, and give it by --addr fd00:7::2.',
  );
}

/**
 * Opens the device at an address that can reach the peer of a TCP connection. An address that was asked for wins.
 * Otherwise a peer on this machine gets a NIC at another of its addresses, of the same family, and a peer elsewhere one at
 * the address from which the connection left: to name a host is to ask for packets to it.
 */
function openToward(device: Device, socket: Socket, options: HostingOptions): Context {
  const name = `Couldn't get context for ${device.name}`;
  const asked = options.addr !== undefined || process.env['VERBENA_ADDR'] !== undefined;
  const peer = plain(socket.remoteAddress ?? '');
  if (asked || peer.startsWith('127.')) return attempt(name, () => device.open(openOptions(options)));
  const address = plain(socket.localAddress ?? '');
  const family = address.includes(':') ? 'IPv6' : 'IPv4';
  // The peer is on this machine, and its NIC most likely has that address.
  if (address === peer) return attempt(name, () => openFree(device, options, family, address));
  return attempt(name, () => device.open({ ...openOptions(options), address }));
}

/** Whether the other side is on this machine, as far as that can be known: of a server's client by its own address alone. */
function isPeerHere(
  toServer: Socket | undefined,
  { addr = process.env['VERBENA_ADDR'] ?? '' }: HostingOptions,
): boolean {
  if (toServer !== undefined) return isHere(plain(toServer.remoteAddress ?? ''));
  return addr === '' || isLoopback(addr);
}

/**
 * Opens the device of a tool. That of a client is opened when the connection to the server is made, since its address
 * follows from the server's.
 *
 * @param spins whether the tool looks for completions without a pause
 */
export async function openFor(
  device: Device,
  toServer: Socket | undefined,
  flags: HostingOptions,
  spins: boolean,
): Promise<Context> {
  const candidates = spins ? spinningHosts(flags, isPeerHere(toServer, flags)) : [flags];
  return openFirst(candidates, (options) => {
    if (toServer !== undefined) return openToward(device, toServer, options);
    return attempt(`Couldn't get context for ${device.name}`, () => device.open(openOptions(options)));
  });
}
