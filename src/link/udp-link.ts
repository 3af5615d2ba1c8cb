/** The link that real packets go by: a UDP socket at port 4791, by system calls. */
import { type Gid } from '../spec/index.js';
import { nativeHostProblem, UdpSocket } from '../host/index.js';
import { ROCE_PORT } from '../wire/index.js';
import type { Link, PacketReceiver } from './link.js';
import { LinkError } from './link-error.js';
import { type LocalAddress, openFirstFree } from './udp-address.js';
import { UdpReceiver } from './udp-receiver.js';
import { NO_SEGMENTATION, probeSegmentation, SOL_UDP } from './udp-segmentation.js';
import { DEFAULT_HOP_LIMIT, DEFAULT_TRAFFIC_CLASS, UdpSink } from './udp-sink.js';

const SOL_SOCKET = 1;
const SO_SNDBUF = 7;
const SO_RCVBUF = 8;
const SO_SNDBUFFORCE = 32;
const SO_RCVBUFFORCE = 33;
const SO_MEMINFO = 55;
/** Index of the packets dropped among the numbers of SO_MEMINFO. */
const SK_MEMINFO_DROPS = 8;

const IPPROTO_IP = 0;
const IP_TOS = 1;
const IP_TTL = 2;
const IP_MTU_DISCOVER = 10;
const IP_RECVTTL = 12;
const IP_RECVTOS = 13;
const IP_PMTUDISC_DO = 2;

const IPPROTO_IPV6 = 41;
const IPV6_UNICAST_HOPS = 16;
const IPV6_MTU_DISCOVER = 23;
const IPV6_V6ONLY = 26;
const IPV6_RECVHOPLIMIT = 51;
const IPV6_DONTFRAG = 62;
const IPV6_RECVTCLASS = 66;
const IPV6_TCLASS = 67;
const UDP_NO_CHECK6_RX = 102;

/** Asked for; the kernel grants what it is allowed to. */
const SOCKET_BUFFER_BYTES = 4 * 1024 * 1024;

export interface UdpLinkOptions {
  /** IPv4 or IPv6 address of this machine; without it the first free one of 127.0.0.1 to 127.0.0.254. */
  readonly address?: string | undefined;
  /** `false` sends and receives each packet on its own. Default: as the kernel can. */
  readonly segmentation?: boolean | undefined;
}

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

/** PROTOCOL.md 7.1: never connected, and fragments forbidden, so that the IP ID, which the ICRC covers, is 0. */
function openSocket(address: LocalAddress): UdpSocket {
  const socket = new UdpSocket(address.ipv6);
  try {
    if (address.ipv6) {
      require(socket, IPPROTO_IPV6, IPV6_V6ONLY, 1);
      require(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IP_PMTUDISC_DO);
      require(socket, IPPROTO_IPV6, IPV6_DONTFRAG, 1);
      // Soft-RoCE sends no UDP checksum.
      require(socket, SOL_UDP, UDP_NO_CHECK6_RX, 1);
      socket.setOption(IPPROTO_IPV6, IPV6_UNICAST_HOPS, DEFAULT_HOP_LIMIT);
      socket.setOption(IPPROTO_IPV6, IPV6_TCLASS, DEFAULT_TRAFFIC_CLASS);
      socket.setOption(IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
      socket.setOption(IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
    } else {
      require(socket, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
      socket.setOption(IPPROTO_IP, IP_TTL, DEFAULT_HOP_LIMIT);
      socket.setOption(IPPROTO_IP, IP_TOS, DEFAULT_TRAFFIC_CLASS);
      socket.setOption(IPPROTO_IP, IP_RECVTOS, 1);
      socket.setOption(IPPROTO_IP, IP_RECVTTL, 1);
    }
    growBuffer(socket, SO_RCVBUFFORCE, SO_RCVBUF);
    growBuffer(socket, SO_SNDBUFFORCE, SO_SNDBUF);
    socket.bind({ ip: address.gid, port: ROCE_PORT, scopeId: address.scopeId });
    return socket;
  } catch (error) {
    socket.close();
    throw error;
  }
}

/**
 * A NIC's address on the real network.
 *
 * Packets of equal size to one peer that are committed one after the other leave by one system call, and arrive by one.
 */
export class UdpLink implements Link {
  readonly gid: Gid;
  readonly ipv6: boolean;
  /** The address as it was asked for, or chosen. */
  readonly address: string;
  readonly maxPacketBytes: number;
  /** For `poll`: readable when {@link receive} has something to give. */
  readonly fd: number;
  /**
   * What the kernel sets aside for packets that have arrived. Each takes its size and some more of it: 768 bytes at least,
   * about twice its size at worst.
   */
  readonly receiveBufferBytes: number;
  readonly sink: UdpSink;
  readonly #receiver: UdpReceiver;
  readonly #socket: UdpSocket;
  #open = true;

  private constructor(socket: UdpSocket, address: LocalAddress, segmentation: boolean) {
    this.#socket = socket;
    this.gid = address.gid;
    this.ipv6 = address.ipv6;
    this.address = address.text;
    this.maxPacketBytes = address.maxPacketBytes;
    this.fd = socket.fd;
    this.receiveBufferBytes = socket.getOption(SOL_SOCKET, SO_RCVBUF) ?? 0;
    const { send, receive } = segmentation ? probeSegmentation(address) : NO_SEGMENTATION;
    this.sink = new UdpSink(socket, address, this.maxPacketBytes, send);
    this.#receiver = new UdpReceiver(socket, address, receive);
  }

  /**
   * @throws LinkError: `EADDRINUSE`, `EADDRNOTAVAIL`, `EACCES`, `EINVAL` (not an address), `ENOSYS` (no system calls on this
   * machine; the DgramLink then does the same, slowly)
   */
  static open(options: UdpLinkOptions = {}): UdpLink {
    const problem = nativeHostProblem();
    if (problem !== undefined) throw new LinkError('ENOSYS', `UDP by system calls is not possible: ${problem}.`);
    return openFirstFree(options.address, ROCE_PORT, (address) => {
      const socket = openSocket(address);
      try {
        return new UdpLink(socket, address, options.segmentation ?? true);
      } catch (error) {
        socket.close();
        throw error;
      }
    });
  }

  receive(receiver: PacketReceiver, maxPackets: number): number {
    return this.#open ? this.#receiver.receive(receiver, maxPackets) : 0;
  }

  flush(): void {
    if (this.#open) this.sink.flush();
    else this.sink.discard();
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#socket.close();
  }

  statistics(): Record<string, number> {
    const { sink } = this;
    const receiver = this.#receiver;
    return {
      sent_packets: sink.sentPackets,
      sent_bytes: sink.sentBytes,
      send_calls: sink.sendCalls,
      send_err: sink.sendErrors,
      received_packets: receiver.receivedPackets,
      received_bytes: receiver.receivedBytes,
      receive_calls: receiver.receiveCalls,
      receive_truncated: receiver.truncated,
      receive_dropped: (this.#open ? this.#socket.getOption(SOL_SOCKET, SO_MEMINFO, SK_MEMINFO_DROPS) : undefined) ?? 0,
    };
  }
}
