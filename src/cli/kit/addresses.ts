import { type Gid, ipFromGid, getAddrInfo, VerbsError } from '../../entry/index.js';
import { BlockList, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { withoutBrackets } from './arguments.js';
import { ToolError } from './errors.js';

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

/** The network interface that an address of this machine belongs to; undefined when there is none. */
export function netdevOf(address: string): string | undefined {
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  const found = Object.entries(networkInterfaces()).flatMap(([name, infos = []]) =>
    infos.filter((info) => info.family.toLowerCase() === family).map((info) => ({ name, ...info })),
  );
  const exact = found.find((info) => info.address === address);
  if (exact !== undefined) return exact.name;
  // All of 127.0.0.0/8 is the loopback's, though it lists one of them.
  const wide = found.find(({ cidr, internal }) => {
    if (cidr === null || !internal) return false;
    const [base, bits] = cidr.split('/');
    const subnet = new BlockList();
    subnet.addSubnet(base, Number(bits), family);
    return subnet.check(address, family);
  });
  return wide?.name;
}

/**
 * The address of a host that was given by name or address. Of a name's addresses an IPv4 one is preferred, since servers
 * that were told no address listen on those.
 *
 * @param numericHost whether names are refused
 */
export async function addressOf(name: string, numericHost = false): Promise<string> {
  const node = withoutBrackets(name);
  try {
    const found = await getAddrInfo(node, undefined, { numericHost });
    const best = found.find(({ family }) => family === 4) ?? found.at(0);
    if (best?.dst !== undefined) return best.dst.host;
  } catch (error) {
    if (!(error instanceof VerbsError)) throw error;
    throw new ToolError(`getaddrinfo failed: ${error.message}`, 1, { cause: error });
  }
  throw new ToolError(`getaddrinfo failed: '${node}' has no address; give an IP address.`);
}
