import { type Gid, gidFromIp, ipFromGid, isIpv4Gid } from '../../../device/ibta/index.js';

/** An address without the zone that link-local ones have. @throws RangeError for what is no address */
export function withoutZone(host: string): string {
  return ipFromGid(gidFromIp(host.replace(/%.*$/, '')));
}

/** The same as 16 bytes; undefined for what is no address. */
export function gidOf(host: string): Gid | undefined {
  try {
    return gidFromIp(host.replace(/%.*$/, ''));
  } catch {
    return undefined;
  }
}

export function versionOf(gid: Gid): 4 | 6 {
  return isIpv4Gid(gid) ? 4 : 6;
}

/** Whether it is a group's. */
export function isGroup(gid: Gid): boolean {
  return isIpv4Gid(gid) ? gid[12] >> 4 === 0xe : gid[0] === 0xff;
}

/** Whether it is one within a network, so that it means little without an interface. */
export function isLinkLocal(gid: Gid): boolean {
  return gid[0] === 0xfe && gid[1] >> 6 === 2;
}
