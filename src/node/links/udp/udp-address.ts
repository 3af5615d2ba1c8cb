/** Which address a UDP link gets, and what the interface behind it carries. */
import { networkInterfaces } from 'node:os';
import { type Gid, gidFromIp, gidsEqual, ipFromGid, isIpv4Gid } from '../../../device/ibta/index.js';
import { codeOf, errnoNameOf, LinkError, type LinkStatus } from '../../../device/link/index.js';
import { isMulticastGid } from '../../../device/wire/index.js';
import { hasUdpPort } from './own-sockets.js';
import { type InterfaceAddress, interfaceAddresses, interfaceFacts, nativeHostProblem } from '../../system/index.js';

/** An address of this machine that a link may be bound to. */
export interface LocalAddress {
  readonly text: string;
  readonly gid: Gid;
  readonly ipv6: boolean;
  /** The interface that it is on; undefined when the system does not tell. */
  readonly interfaceName: string | undefined;
  /** Index of the interface, for a link-local IPv6 address, else 0. */
  readonly scopeId: number;
  /** `%eth0` for a link-local IPv6 address, else empty. */
  readonly zone: string;
  /** Largest UDP payload that leaves unfragmented. */
  readonly maxPacketBytes: number;
}

const IPV4_HEADER_BYTES = 20;
const IPV6_HEADER_BYTES = 40;
const UDP_HEADER_BYTES = 8;
/** The length fields of IP and UDP have 16 bits. */
const MAX_DATAGRAM_BYTES = 65535;
const ETHERNET_MTU = 1500;
/** Last byte of the loopback addresses tried when none is asked for: 127.0.0.1 and on. */
const LAST_DEFAULT_HOST = 254;

/** As Node tells them: those of interfaces that are up, and no others. */
function addressesByNode(): InterfaceAddress[] {
  return Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) =>
    addresses.map(({ address, family, cidr, internal, ...rest }) => ({
      name,
      ip: gidFromIp(address.replace(/%.*$/, '')),
      scopeId: 'scopeid' in rest ? rest.scopeid : 0,
      prefixBits: Number((cidr ?? '/128').replace(/.*\//, '')) + (family === 'IPv4' ? 96 : 0),
      loopback: internal,
    })),
  );
}

function addresses(): InterfaceAddress[] {
  return interfaceAddresses() ?? addressesByNode();
}

function sharesPrefix(a: Gid, b: Gid, bits: number): boolean {
  for (let bit = 0; bit < bits; bit += 1) {
    if (((a[bit >> 3] ^ b[bit >> 3]) & (0x80 >> (bit & 7))) !== 0) return false;
  }
  return true;
}

/** All of a loopback interface's network is local, not only the address that the interface shows. */
function interfaceOf(gid: Gid, zone: string | undefined): InterfaceAddress | undefined {
  const all = addresses().filter(({ name, scopeId }) => zone === undefined || zone === name || zone === `${scopeId}`);
  return (
    all.find((candidate) => gidsEqual(candidate.ip, gid)) ??
    all.find(({ ip, prefixBits, loopback }) => loopback && sharesPrefix(ip, gid, prefixBits))
  );
}

function mtuOf(name: string): number {
  return interfaceFacts(name)?.mtuBytes ?? ETHERNET_MTU;
}

function maxPayload(mtu: number, ipv6: boolean): number {
  // IPv4's length field counts its own header, IPv6's does not.
  const datagram = ipv6
    ? Math.min(mtu - IPV6_HEADER_BYTES, MAX_DATAGRAM_BYTES)
    : Math.min(mtu, MAX_DATAGRAM_BYTES) - IPV4_HEADER_BYTES;
  return datagram - UDP_HEADER_BYTES;
}

function isUnicast(gid: Gid): boolean {
  const ip = isIpv4Gid(gid) ? gid.subarray(12) : gid;
  if (ip.every((byte) => byte === 0) || ip.every((byte) => byte === 255)) return false;
  return !isMulticastGid(gid);
}

/** fe80::/10: an address that each interface may have anew. */
function isLinkLocal(gid: Gid): boolean {
  return gid[0] === 0xfe && gid[1] >> 6 === 2;
}

/** @throws LinkError when a link-local address does not say, or says wrongly, which interface it is meant on */
function checkZone(text: string, gid: Gid, zone: string | undefined): void {
  const owners = addresses().filter(({ ip }) => gidsEqual(ip, gid));
  if (zone === undefined && owners.length !== 1) {
    const where =
      owners.length === 0
        ? `no interface of this machine has it. Its addresses are: ${ownAddresses()}.`
        : `${owners.map(({ name }) => name).join(' and ')} have it. Say which: ${text}%${owners[0].name}.`;
    throw new LinkError(
      'EINVAL',
      `${text} is a link-local address, which means something on one interface only: ${where}`,
    );
  }
  if (zone !== undefined && interfaceOf(gid, zone) === undefined) {
    throw new LinkError('EADDRNOTAVAIL', notOfThisMachine(text));
  }
}

/** Whether an address that was there when a link was opened still is, and whether its interface is up. */
export function addressStatus({ gid, zone, interfaceName }: LocalAddress): LinkStatus {
  const found = interfaceOf(gid, zone === '' ? undefined : zone.slice(1));
  const name = found?.name ?? interfaceName;
  // An address that the system never listed, which routes can make one's own, cannot be seen to go.
  if (name === undefined) return { up: true, present: true };
  const facts = interfaceFacts(name);
  if (found !== undefined) return { up: facts?.up ?? true, present: true };
  // Where Node has to tell, an address of an interface that is down is not seen, and taken to be still there.
  return { up: facts?.up ?? false, present: nativeHostProblem() !== undefined && facts?.up === false };
}

/**
 * What is known of an address of this machine, `fe80::1%eth0` with its zone included.
 *
 * @throws LinkError `EINVAL` when it is not the address of one machine
 */
export function localAddress(text: string): LocalAddress {
  const [ip, zone] = text.split('%', 2) as [string, string?]; // a split gives at least one part
  let gid: Gid;
  try {
    gid = gidFromIp(ip);
  } catch (error) {
    throw new LinkError('EINVAL', `'${text}' is not an IPv4 or IPv6 address.`, { cause: error });
  }
  if (!isUnicast(gid)) {
    throw new LinkError(
      'EINVAL',
      `${text} is not the address of one machine, and a NIC has exactly one. Give one of: ${ownAddresses()}.`,
    );
  }
  const ipv6 = !isIpv4Gid(gid);
  const found = interfaceOf(gid, zone);
  if (isLinkLocal(gid)) checkZone(text, gid, zone);
  const scopeId = found?.scopeId ?? 0;
  return {
    text,
    gid,
    ipv6,
    interfaceName: found?.name,
    scopeId,
    zone: found !== undefined && scopeId > 0 ? `%${found.name}` : '',
    maxPacketBytes: maxPayload(found === undefined ? ETHERNET_MTU : mtuOf(found.name), ipv6),
  };
}

function ownAddresses(): string {
  return addresses()
    .map(({ ip, scopeId, name }) => (scopeId > 0 ? `${ipFromGid(ip)}%${name}` : ipFromGid(ip)))
    .join(', ');
}

function notOfThisMachine(address: string): string {
  return `${address} is not an address of this machine. Its addresses are: ${ownAddresses()}.`;
}

/** Who has a port that is taken, and what to do about that. */
function holderOf(address: string, port: number): string {
  if (hasUdpPort(localAddress(address).gid, port))
    return 'this program has a NIC at that address. Use its context, choose another address';
  return "another program has a NIC at that address (or the kernel's rdma_rxe has the port). Stop it, choose another address";
}

/** A sentence on why an address could not be had, and what would do. */
export function addressError(address: string, port: number, cause: unknown): LinkError {
  const code = codeOf(cause);
  const where = `UDP port ${port} of ${address}`;
  const because: Record<string, string> = {
    EADDRINUSE: `${where} is taken: ${holderOf(address, port)}, or give none and get a free one on loopback.`,
    EADDRNOTAVAIL: notOfThisMachine(address),
    EACCES: `no permission to use ${where}. A sandbox or a security module may forbid it; try a loopback address.`,
    EPERM: `no permission to use ${where}. A sandbox or a security module may forbid it; try a loopback address.`,
    EAFNOSUPPORT: `this machine has no IPv6, so ${address} cannot be used. Choose an IPv4 address.`,
    EMFILE: 'the process has no file descriptor left for a socket. Close some, or raise the limit (ulimit -n).',
  };
  const sentence = because[code] ?? `${where} could not be opened: ${code || String(cause)}.`;
  return new LinkError(errnoNameOf(code), sentence, { cause });
}

/** A sentence on why a group could not be joined. */
export function groupError(group: Gid, { text, ipv6, interfaceName }: LocalAddress, cause: unknown): LinkError {
  const code = codeOf(cause);
  const name = ipFromGid(group);
  const where = interfaceName ?? `the interface of ${text}`;
  const loopback = ipv6 && interfaceName === 'lo';
  const because: Record<string, string> = {
    ENETUNREACH:
      `${where} has no route for it. ` +
      (loopback
        ? 'Linux gives loopback none for IPv6 groups: have root run "ip -6 route add local ff00::/8 dev lo", or use IPv4.'
        : 'It may be down, or carry no multicast.'),
    EADDRNOTAVAIL: `${text} is no longer an address of this machine.`,
    ENODEV: `${where} is gone.`,
    ENOBUFS: 'the system allows no more memberships (sysctl net.ipv4.igmp_max_memberships).',
    EMFILE: 'the process has no file descriptor left for a socket. Close some, or raise the limit (ulimit -n).',
  };
  const sentence = because[code] ?? `${code || String(cause)}.`;
  return new LinkError(errnoNameOf(code), `the group ${name} cannot be joined: ${sentence}`, { cause });
}

/**
 * Opens the address asked for, or without one the first of 127.0.0.1, 127.0.0.2 and on that is free, so that the programs
 * of one machine are hosts of one network.
 *
 * @param open throws an error with a `code` when the address cannot be had
 * @throws LinkError
 */
export function openFirstFree<T>(asked: string | undefined, port: number, open: (address: LocalAddress) => T): T {
  if (asked !== undefined) {
    const address = localAddress(asked);
    try {
      return open(address);
    } catch (error) {
      throw addressError(address.text, port, error);
    }
  }
  for (let host = 1; host <= LAST_DEFAULT_HOST; host += 1) {
    const address = localAddress(`127.0.0.${host}`);
    try {
      return open(address);
    } catch (error) {
      if (codeOf(error) !== 'EADDRINUSE') throw addressError(address.text, port, error);
    }
  }
  throw new LinkError(
    'EADDRINUSE',
    `UDP port ${port} is taken on all of 127.0.0.1 to 127.0.0.${LAST_DEFAULT_HOST}. Perhaps the kernel's rdma_rxe has the ` +
      'port on every address of this machine: remove that module, or use another network namespace.',
  );
}
