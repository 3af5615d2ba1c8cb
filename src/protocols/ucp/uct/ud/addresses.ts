import { type Gid, isIpv4Gid } from '../../../../device/ibta/index.js';

/** What the adapter puts before each datagram that has come: a GRH, or an IPv4 header in its last 20 bytes. */
export const GRH_BYTES = 40;
const IPV4_AT = 20;
const IPV4_SOURCE_AT = IPV4_AT + 12;
const IPV6_SOURCE_AT = 8;
/** Where the bytes of an IPv4 address are in a GID. */
const IPV4_IN_GID = 12;
const GID_BYTES = 16;

export interface UdAddress {
  readonly gid: Gid;
  readonly qpn: number;
  readonly qkey: number;
}

/** Whether a datagram comes from an address. @param grh begins with what the adapter has put there */
export function isFromGid(grh: Uint8Array, gid: Gid): boolean {
  const isIpv4 = isIpv4Gid(gid);
  const version = isIpv4 ? grh[IPV4_AT] : grh[0];
  if (version >> 4 !== (isIpv4 ? 4 : 6)) return false;
  const at = isIpv4 ? IPV4_SOURCE_AT - IPV4_IN_GID : IPV6_SOURCE_AT;
  for (let i = isIpv4 ? IPV4_IN_GID : 0; i < GID_BYTES; i += 1) if (grh[at + i] !== gid[i]) return false;
  return true;
}

/** By which peers' endpoints are told apart. */
export function peerKey(gid: Gid, qpn: number, endpoint: number): string {
  return `${gid.join('.')} ${qpn} ${endpoint}`;
}
