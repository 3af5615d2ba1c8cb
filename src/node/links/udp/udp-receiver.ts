/** Receiving: as few system calls as there is traffic for, and super-packets taken apart. */
import { type Gid, isIpv4Gid } from '../../../device/ibta/index.js';
import type { PacketReceiver } from '../../../device/link/index.js';
import { Ecn, getU32, PacketMeta } from '../../../device/wire/index.js';
import {
  ANCILLARY_BYTES,
  MessageBlock,
  MSG_TRUNC,
  NativeBlock,
  sockaddrIpOffset,
  sockaddrLength,
  type UdpSocket,
} from '../../system/index.js';
import { UdpBacklog } from './udp-backlog.js';
import { SOL_UDP, UDP_GRO } from './udp-segmentation.js';

/** No datagram is longer, joined ones included. */
const BUFFER_BYTES = 65536;
/** Datagrams taken by one call when there is much to take. */
const BATCH = 8;
/**
 * So many datagrams at once mean that it pays to have the kernel join them. Before that it does not: a socket that asks for
 * joined datagrams takes 0.1 us longer over each one that comes alone (measured on Linux 6.18).
 */
const JOIN_FROM = 4;
/** Segment size, traffic class, hop limit, flow label. */
const CONTROL_BYTES = 4 * ANCILLARY_BYTES;

const IP_TOS = 1;
const IP_TTL = 2;
const IPV6_FLOWINFO = 11;
const IPV6_HOPLIMIT = 52;
const IPV6_TCLASS = 67;

/** What the sockets of a link share, since only one of them receives at a time: memory, and the counting. */
export class UdpArrivals {
  packets = 0;
  bytes = 0;
  calls = 0;
  /** Dropped because they were longer than the buffer. */
  truncated = 0;
  /** Datagrams that only woke somebody. */
  wakes = 0;
  readonly arena = new NativeBlock(BATCH * BUFFER_BYTES);
  readonly messages = new MessageBlock(BATCH, CONTROL_BYTES);

  constructor(
    ipv6: boolean,
    /** Whether datagrams without a byte in them are no packets. */
    readonly wakeable: boolean,
  ) {
    for (let i = 0; i < BATCH; i += 1) {
      this.messages.setBuffer(i, this.arena.address + i * BUFFER_BYTES);
      this.messages.setBufferLength(i, BUFFER_BYTES);
      this.reset(i, sockaddrLength(ipv6));
    }
  }

  /** The kernel writes into these what it used. */
  reset(i: number, nameLength: number): void {
    this.messages.setNameLength(i, nameLength);
    this.messages.setControlLength(i, CONTROL_BYTES);
  }
}

/** Receives at one socket what was sent to one address. */
export class UdpReceiver {
  readonly #messages: MessageBlock;
  readonly #bytes: Uint8Array;
  readonly #meta = new PacketMeta();
  readonly #ipv6: boolean;
  readonly #nameLength: number;
  readonly #trafficClassType: number;
  readonly #hopLimitType: number;
  readonly #backlog: UdpBacklog;
  /** The last call brought something, so the next one probably will. */
  #busy = false;

  /** The kernel can join datagrams, and was not asked to yet. */
  #mayJoin: boolean;

  constructor(
    private readonly socket: UdpSocket,
    private readonly arrivals: UdpArrivals,
    destination: Gid,
    canJoin: boolean,
  ) {
    const ipv6 = !isIpv4Gid(destination);
    this.#mayJoin = canJoin;
    this.#ipv6 = ipv6;
    this.#nameLength = sockaddrLength(ipv6);
    this.#trafficClassType = ipv6 ? IPV6_TCLASS : IP_TOS;
    this.#hopLimitType = ipv6 ? IPV6_HOPLIMIT : IP_TTL;
    this.#backlog = new UdpBacklog(socket);
    this.#messages = arrivals.messages;
    this.#bytes = arrivals.arena.bytes;
    const meta = this.#meta;
    meta.ipv6 = ipv6;
    meta.destination.set(destination);
    if (!ipv6) meta.source.fill(0xff, 10, 12);
  }

  receive(receiver: PacketReceiver, maxPackets: number): number {
    const { libc } = this.socket.native;
    const messages = this.#messages;
    if (!this.#busy) {
      // Something may come or not: the call that is cheapest when it does not, and that hands over the first packet
      // without a look for a second one, which would only delay the answer to the first.
      const length = libc.recvmsg(this.socket.fd, messages.address(0), 0);
      if (length < 0) return 0;
      this.#busy = true;
      this.arrivals.calls += 1;
      return this.#deliver(receiver, 0, length);
    }
    let packets = 0;
    while (packets < maxPackets) {
      const count = libc.recvmmsg(this.socket.fd, messages.address(0), BATCH, 0, 0);
      if (count <= 0) {
        this.#busy = packets > 0;
        this.#backlog.onTaken(0, false, false);
        break;
      }
      this.arrivals.calls += 1;
      if (this.#mayJoin && count >= JOIN_FROM) {
        this.#mayJoin = false;
        this.socket.setOption(SOL_UDP, UDP_GRO, 1);
      }
      let bytes = 0;
      for (let i = 0; i < count; i += 1) bytes += messages.length(i);
      this.#backlog.onTaken(bytes, count === BATCH, packets === 0);
      for (let i = 0; i < count; i += 1) packets += this.#deliver(receiver, i, messages.length(i));
      if (count < BATCH) break;
    }
    return packets;
  }

  /** Hands over one datagram. @returns how many packets it was */
  #deliver(receiver: PacketReceiver, i: number, length: number): number {
    const messages = this.#messages;
    const truncated = (messages.flags(i) & MSG_TRUNC) !== 0;
    const segmentBytes = this.#readHeaders(i, length);
    this.arrivals.reset(i, this.#nameLength);
    if (truncated) {
      this.arrivals.truncated += 1;
      return 0;
    }
    if (length === 0 && this.arrivals.wakeable) {
      this.arrivals.wakes += 1;
      return 0;
    }
    const bytes = this.#bytes;
    const meta = this.#meta;
    const end = i * BUFFER_BYTES + length;
    let packets = 0;
    let offset = i * BUFFER_BYTES;
    const { trafficClass } = meta;
    const markable = (trafficClass & Ecn.MASK) !== Ecn.NOT_ECT;
    do {
      const packetBytes = Math.min(segmentBytes, end - offset);
      // Each of joined packets has another.
      meta.ipId = -1;
      if (markable) meta.trafficClass = this.#backlog.mark() ? trafficClass | Ecn.CE : trafficClass;
      receiver.receive(bytes, offset, packetBytes, meta);
      offset += packetBytes;
      packets += 1;
    } while (offset < end);
    this.arrivals.packets += packets;
    this.arrivals.bytes += length;
    return packets;
  }

  /** Fills the meta data. @returns the size of the packets that the datagram is to be cut into */
  #readHeaders(i: number, length: number): number {
    const { bytes, words } = this.#messages;
    const meta = this.#meta;
    const name = this.#messages.nameOffset(i);
    const ip = (name + sockaddrIpOffset(this.#ipv6)) >> 2;
    meta.sourcePort = (bytes[name + 2] << 8) | bytes[name + 3];
    meta.sourceWords[3] = words[this.#ipv6 ? ip + 3 : ip];
    if (this.#ipv6) {
      // Told only where there is one.
      meta.flowLabel = 0;
      meta.sourceWords[0] = words[ip];
      meta.sourceWords[1] = words[ip + 1];
      meta.sourceWords[2] = words[ip + 2];
    }
    let segmentBytes = length;
    const controls = this.#messages.controlOffset(i);
    const end = controls + this.#messages.controlLength(i);
    // Every one of them carries a single number, so each takes the same room.
    for (let control = controls; control < end; control += ANCILLARY_BYTES) {
      const level = words[(control + 8) >> 2];
      const type = words[(control + 12) >> 2];
      const value = control + 16;
      if (level === SOL_UDP) {
        if (type === UDP_GRO) segmentBytes = words[value >> 2];
      } else if (type === this.#trafficClassType) {
        // One byte in IPv4, an int in IPv6, and in both the first byte is the one that counts.
        meta.trafficClass = bytes[value];
      } else if (type === this.#hopLimitType) {
        meta.hopLimit = bytes[value];
      } else if (type === IPV6_FLOWINFO) {
        // In network order, below the traffic class.
        meta.flowLabel = getU32(bytes, value) & 0xfffff;
      }
    }
    return segmentBytes > 0 ? segmentBytes : length;
  }
}
