/** Multicast groups on RoCEv2: the GID is the IP group (protocol.md 3.5). */
import { type Gid, isIpv4Gid } from '../../ibta/index.js';

/** The destination QP of packets to a group: the receivers decide which of their queue pairs it means. */
export const MULTICAST_QPN = 0xffffff;

/** Whether a GID names a group: an IPv4 address in 224.0.0.0/4, mapped into IPv6, or an IPv6 address in ff00::/8. */
export function isMulticastGid(gid: Gid): boolean {
  return isIpv4Gid(gid) ? gid[12] >> 4 === 0xe : gid[0] === 0xff;
}
