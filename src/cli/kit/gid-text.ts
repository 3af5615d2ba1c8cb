import { type Gid, ipFromGid } from '../../entry/index.js';

/** A GID as inet_ntop(AF_INET6, …) writes it, which is how the C tools print one: `::ffff:127.0.0.1`, `fd00::1`. */
export function gidText(gid: Gid): string {
  const address = ipFromGid(gid);
  return address.includes(':') ? address : `::ffff:${address}`;
}
