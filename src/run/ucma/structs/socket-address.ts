import { isIPv4 } from 'node:net';
import { Refusal } from '../../refusal.js';
import type { SocketAddress } from '../../../api/rdmacm/index.js';
import { invalid, VerbsError } from '../../../api/verbs/index.js';
import { gidFromIp, ipFromGid } from '../../../device/ibta/index.js';
import { be16, octets, struct, u16, u32, type ValuesOf } from '../../../device/wire/index.js';

const AF_INET = 2;
const AF_INET6 = 10;
const AF_IB = 27;

/** `struct sockaddr_in6`, and a `struct sockaddr_in` in its room (ip(7), ipv6(7)). */
export const SOCKADDR = struct(
  { family: u16(0), port: be16(2), ipv4: octets(4, 4), ipv6: octets(8, 16), scopeId: u32(24) },
  28,
);

type Values = ValuesOf<typeof SOCKADDR>;

/**
 * An address of a program.
 *
 * @returns undefined where the program names none
 * @throws Refusal EADDRNOTAVAIL for an address of InfiniBand, by which librdmacm finds out that there are none; VerbsError
 *   EAFNOSUPPORT for any other
 */
export function socketAddressOf(call: string, { family, port, ipv4, ipv6 }: Values): SocketAddress | undefined {
  switch (family) {
    case 0:
      return undefined;
    case AF_INET:
      return { host: ipv4.join('.'), port };
    case AF_INET6:
      return { host: ipFromGid(ipv6), port };
    case AF_IB:
      throw new Refusal('EADDRNOTAVAIL');
    default:
      throw new VerbsError(call, { ...invalid(`the address is of family ${family}`), errno: 'EAFNOSUPPORT' });
  }
}

export function socketAddressFor({ host, port }: Required<SocketAddress>): Values {
  const gid = gidFromIp(host);
  const none = new Uint8Array(0);
  return isIPv4(host)
    ? { family: AF_INET, port, ipv4: gid.subarray(-4), ipv6: none, scopeId: 0 }
    : { family: AF_INET6, port, ipv4: none, ipv6: gid, scopeId: 0 };
}

/** Whether it is of fe80::/10, where each interface may have the same address, and names no interface. */
export function lacksScope({ family, ipv6, scopeId }: Values): boolean {
  return family === AF_INET6 && ipv6[0] === 0xfe && ipv6[1] >> 6 === 2 && scopeId === 0;
}
