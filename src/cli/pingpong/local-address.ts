import { type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type Context, type Device, VerbsError } from '../../index.js';
import { ToolError, attempt } from '../errors.js';
import { type HostingOptions, openOptions } from '../options.js';

const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

/** IPv6 addresses of this machine at which a NIC can talk to ::1: ::1 itself first, link-local ones not at all. */
function ipv6Candidates(): string[] {
  const others = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, address }) => family === 'IPv6' && address !== '::1' && !address.startsWith('fe80:'))
    .map(({ address }) => address);
  return ['::1', ...others];
}

function openFree(device: Device, options: HostingOptions, addresses: readonly string[]): Context {
  for (const address of addresses) {
    try {
      return device.open({ ...openOptions(options), address });
    } catch (error) {
      const taken = error instanceof VerbsError && (error.errno === 'EADDRINUSE' || error.errno === 'EADDRNOTAVAIL');
      if (!taken) throw error;
    }
  }
  throw new ToolError(
    `All IPv6 addresses of this machine are taken by other NICs (${addresses.join(', ')}); ` +
      'add one, as root: ip -6 addr add fd00:7::2/128 dev lo, and give it by --addr fd00:7::2.',
  );
}

/**
 * Opens the device at an address that can reach the peer of a TCP connection. An address that was asked for wins.
 * Otherwise a peer on loopback gets a NIC on loopback, of the same address family, and a peer elsewhere one at the
 * address from which the connection left: to name a host is to ask for packets to it.
 */
export function openToward(device: Device, socket: Socket, options: HostingOptions): Context {
  const name = `Couldn't get context for ${device.name}`;
  const asked = options.addr !== undefined || process.env['VERBENA_ADDR'] !== undefined;
  const peer = plain(socket.remoteAddress ?? '');
  if (asked || peer.startsWith('127.')) return attempt(name, () => device.open(openOptions(options)));
  if (isLoopback(peer)) return attempt(name, () => openFree(device, options, ipv6Candidates()));
  const address = plain(socket.localAddress ?? '');
  return attempt(name, () => device.open({ ...openOptions(options), address }));
}
