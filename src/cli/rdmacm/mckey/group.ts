import { isIP } from 'node:net';
import { gidFromIp, ipFromGid, type SocketAddress } from '../../../entry/index.js';
import { addressOf } from '../common/addresses.js';
import { ToolError } from '../../kit/errors.js';

const FIRST_V4 = 224;
const LAST_V4 = 239;
const ADVICE = 'Groups are 224.0.0.0 to 239.255.255.255, and what begins with ff in IPv6';

function isGroup(host: string): boolean {
  if (host.includes(':')) return host.startsWith('ff');
  const first = Number(host.slice(0, host.indexOf('.')));
  return first >= FIRST_V4 && first <= LAST_V4;
}

/** The group that -m names, by IP address or by name. */
export async function groupOf(node: string): Promise<SocketAddress> {
  const host = await addressOf(node);
  if (!isGroup(host)) throw new ToolError(`${node} is not a multicast group. ${ADVICE}.`);
  return { host };
}

/** The group that -M names, by GID: that of an IPv4 group is ::ffff:a.b.c.d (protocol/services.md 3.5). */
export function groupOfGid(gid: string): SocketAddress {
  const host = isIP(gid) === 6 ? ipFromGid(gidFromIp(gid)) : '';
  if (!isGroup(host)) {
    const forms = 'that of 239.1.2.3 is ::ffff:239.1.2.3, and that of an IPv6 group is its address';
    throw new ToolError(`${gid} is not a multicast GID: ${forms}. The subnet has no manager that could assign one.`);
  }
  return { host };
}
