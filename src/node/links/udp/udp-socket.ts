/** The sockets of a UDP link: one at its own address, and one at each group that it is in. */
import type { Gid } from '../../../device/ibta/index.js';
import { ROCE_PORT } from '../../../device/wire/index.js';
import { interfaceFacts, UdpSocket } from '../../system/index.js';
import { groupError, type LocalAddress } from './udp-address.js';
import { SOL_UDP } from './udp-segmentation.js';
import { DEFAULT_HOP_LIMIT, DEFAULT_TRAFFIC_CLASS } from './udp-sink.js';

const SOL_SOCKET = 1;
const SO_REUSEADDR = 2;
const SO_SNDBUF = 7;
const SO_RCVBUF = 8;
const SO_SNDBUFFORCE = 32;
const SO_RCVBUFFORCE = 33;
const SO_MEMINFO = 55;
/** Indices among the numbers of SO_MEMINFO: memory that packets take which wait, and packets dropped. */
const SK_MEMINFO_RMEM_ALLOC = 0;
const SK_MEMINFO_DROPS = 8;

const IPPROTO_IP = 0;
const IP_TOS = 1;
const IP_TTL = 2;
const IP_MTU_DISCOVER = 10;
const IP_RECVTTL = 12;
const IP_RECVTOS = 13;
const IP_MULTICAST_IF = 32;
const IP_MULTICAST_TTL = 33;
const IP_ADD_MEMBERSHIP = 35;
const IP_MULTICAST_ALL = 49;
const IP_PMTUDISC_DO = 2;

const IPPROTO_IPV6 = 41;
const IPV6_FLOWINFO = 11;
const IPV6_UNICAST_HOPS = 16;
const IPV6_MULTICAST_IF = 17;
const IPV6_MULTICAST_HOPS = 18;
const IPV6_JOIN_GROUP = 20;
const IPV6_MTU_DISCOVER = 23;
const IPV6_V6ONLY = 26;
const IPV6_MULTICAST_ALL = 29;
const IPV6_FLOWINFO_SEND = 33;
const IPV6_RECVHOPLIMIT = 51;
const IPV6_DONTFRAG = 62;
const IPV6_RECVTCLASS = 66;
const IPV6_TCLASS = 67;
const IPV6_AUTOFLOWLABEL = 70;
const UDP_NO_CHECK6_RX = 102;

/** Asked for; the kernel grants what it is allowed to. */
const SOCKET_BUFFER_BYTES = 4 * 1024 * 1024;

/** A socket option that must be had, or packets would be wrong. */
function require(socket: UdpSocket, level: number, name: number, value: number): void {
  if (!socket.setOption(level, name, value)) throw socket.native.failure('setsockopt');
}

/** Privileged programs may go beyond the system's limit. */
function growBuffer(socket: UdpSocket, force: number, plain: number): void {
  if (!socket.setOption(SOL_SOCKET, force, SOCKET_BUFFER_BYTES)) {
    socket.setOption(SOL_SOCKET, plain, SOCKET_BUFFER_BYTES);
  }
}

/** What the kernel sets aside for packets that have arrived. */
export function receiveBufferBytes(socket: UdpSocket): number {
  return socket.getOption(SOL_SOCKET, SO_RCVBUF) ?? 0;
}

export function backlogOf(socket: UdpSocket): number {
  return socket.getOption(SOL_SOCKET, SO_MEMINFO, SK_MEMINFO_RMEM_ALLOC) ?? 0;
}

/** Packets that found no room there. */
export function droppedPackets(socket: UdpSocket): number {
  return socket.getOption(SOL_SOCKET, SO_MEMINFO, SK_MEMINFO_DROPS) ?? 0;
}

/** `struct ip_mreqn`, which says of IPv4 which group, and which interface, by address and number. */
function ipv4Membership(group: Gid, { gid }: LocalAddress, interfaceIndex: number): Uint8Array {
  const bytes = new Uint8Array(12);
  bytes.set(group.subarray(12), 0);
  bytes.set(gid.subarray(12), 4);
  new DataView(bytes.buffer).setInt32(8, interfaceIndex, true);
  return bytes;
}

/** `struct ipv6_mreq`, which says the same of IPv6, where addresses do not tell interfaces. */
function ipv6Membership(group: Gid, interfaceIndex: number): Uint8Array {
  const bytes = new Uint8Array(20);
  bytes.set(group);
  new DataView(bytes.buffer).setInt32(16, interfaceIndex, true);
  return bytes;
}

/** 0 lets the kernel choose. */
function interfaceIndex({ interfaceName, scopeId }: LocalAddress): number {
  if (scopeId > 0 || interfaceName === undefined) return scopeId;
  return interfaceFacts(interfaceName)?.index ?? 0;
}

/** Packets to groups leave by the address's own interface; by default, the kernel then lets the machine hear them as well. */
function aimMulticast(socket: UdpSocket, address: LocalAddress): void {
  const index = interfaceIndex(address);
  if (address.ipv6) {
    socket.setOption(IPPROTO_IPV6, IPV6_MULTICAST_IF, index);
    socket.setOption(IPPROTO_IPV6, IPV6_MULTICAST_HOPS, DEFAULT_HOP_LIMIT);
  } else {
    socket.setOptionBytes(IPPROTO_IP, IP_MULTICAST_IF, ipv4Membership(new Uint8Array(16), address, index));
    socket.setOption(IPPROTO_IP, IP_MULTICAST_TTL, DEFAULT_HOP_LIMIT);
  }
}

/** Has the headers told that a socket otherwise hides, and as much room as there can be. */
function prepareToReceive(socket: UdpSocket): void {
  if (socket.ipv6) {
    require(socket, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    // Soft-RoCE sends no UDP checksum.
    require(socket, SOL_UDP, UDP_NO_CHECK6_RX, 1);
    socket.setOption(IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
    socket.setOption(IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
    socket.setOption(IPPROTO_IPV6, IPV6_FLOWINFO, 1);
  } else {
    socket.setOption(IPPROTO_IP, IP_RECVTOS, 1);
    socket.setOption(IPPROTO_IP, IP_RECVTTL, 1);
  }
  growBuffer(socket, SO_RCVBUFFORCE, SO_RCVBUF);
}

/** protocol/udp.md 8.1: never connected, and fragments forbidden, so that the IP ID, which the ICRC covers, is 0. */
function prepareToSend(socket: UdpSocket, address: LocalAddress): void {
  if (address.ipv6) {
    require(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IP_PMTUDISC_DO);
    require(socket, IPPROTO_IPV6, IPV6_DONTFRAG, 1);
    socket.setOption(IPPROTO_IPV6, IPV6_UNICAST_HOPS, DEFAULT_HOP_LIMIT);
    socket.setOption(IPPROTO_IPV6, IPV6_TCLASS, DEFAULT_TRAFFIC_CLASS);
    // The flow label is the path's, and none where it has none.
    socket.setOption(IPPROTO_IPV6, IPV6_AUTOFLOWLABEL, 0);
    socket.setOption(IPPROTO_IPV6, IPV6_FLOWINFO_SEND, 1);
  } else {
    require(socket, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
    socket.setOption(IPPROTO_IP, IP_TTL, DEFAULT_HOP_LIMIT);
    socket.setOption(IPPROTO_IP, IP_TOS, DEFAULT_TRAFFIC_CLASS);
  }
  aimMulticast(socket, address);
  growBuffer(socket, SO_SNDBUFFORCE, SO_SNDBUF);
}

function opened(address: LocalAddress, prepare: (socket: UdpSocket) => void): UdpSocket {
  const socket = new UdpSocket(address.ipv6);
  try {
    prepare(socket);
    return socket;
  } catch (error) {
    socket.close();
    throw error;
  }
}

/** The socket that sends, and receives what is for the address itself. @throws SystemCallError */
export function openAddressSocket(address: LocalAddress): UdpSocket {
  return opened(address, (socket) => {
    prepareToReceive(socket);
    prepareToSend(socket, address);
    socket.bind({ ip: address.gid, port: ROCE_PORT, scopeId: address.scopeId });
  });
}

function checkRoute(group: Gid, address: LocalAddress): void {
  opened(address, (socket) => {
    aimMulticast(socket, address);
    socket.bind({ ip: address.gid, port: 0, scopeId: address.scopeId });
    // Sends nothing: the kernel only looks for a way.
    socket.connect({ ip: group, port: ROCE_PORT, scopeId: address.scopeId });
  }).close();
}

/**
 * A socket that receives what is sent to a group and arrives at the address's interface. Linux hands packets of a group to
 * sockets bound to it, or to any address, but not to those bound to an address of the machine.
 *
 * @throws LinkError
 */
export function openGroupSocket(group: Gid, address: LocalAddress): UdpSocket {
  try {
    checkRoute(group, address);
    return opened(address, (socket) => {
      prepareToReceive(socket);
      const index = interfaceIndex(address);
      // Others on this machine may be in the group, too, and each gets each packet.
      require(socket, SOL_SOCKET, SO_REUSEADDR, 1);
      socket.bind({ ip: group, port: ROCE_PORT, scopeId: index });
      const [level, all, join, membership] = address.ipv6
        ? ([IPPROTO_IPV6, IPV6_MULTICAST_ALL, IPV6_JOIN_GROUP, ipv6Membership(group, index)] as const)
        : ([IPPROTO_IP, IP_MULTICAST_ALL, IP_ADD_MEMBERSHIP, ipv4Membership(group, address, index)] as const);
      // Otherwise what somebody else joined on another interface would come as well. IPv6 has this since Linux 4.20.
      socket.setOption(level, all, 0);
      if (!socket.setOptionBytes(level, join, membership)) throw socket.native.failure('setsockopt');
    });
  } catch (error) {
    throw groupError(group, address, error);
  }
}
