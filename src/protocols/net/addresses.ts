import { isIP } from 'node:net';
import type { FullAddress } from '../../api/rdmacm/index.js';

/** Where a socket or a server is, as `address()` tells. */
export interface SocketAddressInfo {
  readonly address: string;
  readonly family: 'IPv4' | 'IPv6';
  readonly port: number;
}

export function familyOf(host: string): 'IPv4' | 'IPv6' {
  return isIP(host) === 6 ? 'IPv6' : 'IPv4';
}

/** An address as `address()` tells it. */
export function infoOf({ host, port }: FullAddress): SocketAddressInfo {
  return { address: host, family: familyOf(host), port };
}
