import { type Gid, gidFromIp, ipFromGid, isIpv4Gid } from '../../ibta/index.js';
import { getU32 } from '../bytes.js';

/** Multicast groups on RoCEv2: the GID is the IP group (protocol/services.md 3.5). */

/** The destination QP of packets to a group: the receivers decide which of their queue pairs it means. */
export const MULTICAST_QPN = 0xffffff;

/** Whether a GID names a group: an IPv4 address in 224.0.0.0/4, mapped into IPv6, or an IPv6 address in ff00::/8. */
export function isMulticastGid(gid: Gid): boolean {
  return isIpv4Gid(gid) ? gid[12] >> 4 === 0xe : gid[0] === 0xff;
}

/** A GID as a key of maps: quicker to make than a text for people. */
export function gidKey(gid: Gid): string {
  return `${getU32(gid, 0)} ${getU32(gid, 4)} ${getU32(gid, 8)} ${getU32(gid, 12)}`;
}

export type Family = 4 | 6;

const FIRST_GROUP_BYTE_V4 = 224;
const LAST_GROUP_BYTE_V4 = 239;

/** An address without the name of the interface that it belongs to: `fe80::1` of `fe80::1%eth0`. */
function withoutZone(host: string): string {
  return host.replace(/%.*$/, '');
}

/**
 * An IP address as it is written everywhere here: RFC 5952, an IPv4 one in IPv6 clothes as what it is.
 *
 * @throws RangeError when the text is none
 */
export function plainAddress(host: string): string {
  return ipFromGid(gidFromIp(withoutZone(host)));
}

/** Whether a host is written as an address, so that nobody has to be asked for it. */
export function isAddressText(host: unknown): host is string {
  if (typeof host !== 'string') return false;
  const [address, ...zones] = host.split('%');
  if (zones.length > 1 || zones[0] === '' || (zones.length === 1 && !address.includes(':'))) return false;
  try {
    gidFromIp(address);
    return true;
  } catch {
    return false;
  }
}

export function familyOf(host: string): Family {
  return host.includes(':') ? 6 : 4;
}

export function isAny(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

export function isLoopback(host: string): boolean {
  return host.startsWith('127.') || host === '::1';
}

/** Whether it is the address of a multicast group (protocol/services.md 3.5). */
export function isGroup(host: string): boolean {
  if (familyOf(host) === 6) return host.startsWith('ff');
  const first = Number(host.slice(0, host.indexOf('.')));
  return first >= FIRST_GROUP_BYTE_V4 && first <= LAST_GROUP_BYTE_V4;
}
