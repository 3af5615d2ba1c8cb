import { isIP } from 'node:net';
import type { SocketAddress } from '../../../../api/rdmacm/index.js';
import { invalid, VerbsError } from '../../../../api/verbs/index.js';
import { gidFromIp, ipFromGid } from '../../../../device/ibta/index.js';

const AF_INET = 2;
const AF_INET6 = 10;
/** InfiniBand's own addresses. */
const AF_IB = 27;

/** Bytes of the form that all older commands have their addresses in, of either version of IP. */
export const SOCKADDR_IN6_BYTES = 28;

/** Where the parts of an address lie (ip(7), ipv6(7)); ports are big-endian. */
const Place = { FAMILY: 0, PORT: 2, IPV4: 4, IPV6: 8 } as const;
const IPV4_BYTES = 4;
const IPV6_BYTES = 16;

/**
 * Reads an address of a program.
 *
 * @returns undefined where the program names none
 * @throws VerbsError EADDRNOTAVAIL for an address of InfiniBand, by which librdmacm finds out that there are none; EAFNOSUPPORT
 *   for any other
 */
export function readSocketAddress(call: string, bytes: Buffer, at: number): SocketAddress | undefined {
  const family = bytes.readUInt16LE(at + Place.FAMILY);
  const port = bytes.readUInt16BE(at + Place.PORT);
  switch (family) {
    case 0:
      return undefined;
    case AF_INET:
      return { host: bytes.subarray(at + Place.IPV4, at + Place.IPV4 + IPV4_BYTES).join('.'), port };
    case AF_INET6:
      return { host: ipFromGid(bytes.subarray(at + Place.IPV6, at + Place.IPV6 + IPV6_BYTES)), port };
    case AF_IB:
      throw new VerbsError(call, {
        errno: 'EADDRNOTAVAIL',
        message: 'RoCE has no addresses of InfiniBand',
        advice: '',
      });
    default:
      throw new VerbsError(call, { ...invalid(`the address is of family ${family}`), errno: 'EAFNOSUPPORT' });
  }
}

/** Writes an address as programs have it. */
export function writeSocketAddress(bytes: Buffer, at: number, { host, port }: Required<SocketAddress>): void {
  const ipv4 = isIP(host) === IPV4_BYTES;
  bytes.writeUInt16LE(ipv4 ? AF_INET : AF_INET6, at + Place.FAMILY);
  bytes.writeUInt16BE(port, at + Place.PORT);
  const gid = gidFromIp(host);
  if (ipv4) bytes.set(gid.subarray(IPV6_BYTES - IPV4_BYTES), at + Place.IPV4);
  else bytes.set(gid, at + Place.IPV6);
}
