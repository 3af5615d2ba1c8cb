import { type Gid, ipFromGid } from '../../entry/index.js';

/** A GUID as `ibv_devinfo` and `rdma` write it: `5054:00ff:fe12:3456`. */
export function guidText(guid: bigint): string {
  const digits = guid.toString(16).padStart(16, '0');
  return [0, 4, 8, 12].map((at) => digits.slice(at, at + 4)).join(':');
}

/** A GID as inet_ntop(AF_INET6, …) writes it, which is how the C tools print one: `::ffff:127.0.0.1`, `fd00::1`. */
export function gidText(gid: Gid): string {
  const address = ipFromGid(gid);
  return address.includes(':') ? address : `::ffff:${address}`;
}
