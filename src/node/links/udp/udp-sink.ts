/** Sending: packets are built in one arena, and those that one system call can send leave by one call. */
import { ipFromGid } from '../../../device/ibta/index.js';
import type { PacketSink } from '../../../device/link/index.js';
import { Ecn, isLoopback, type Path, putU32, ROCE_PORT } from '../../../device/wire/index.js';
import {
  ANCILLARY_BYTES,
  MessageBlock,
  NativeBlock,
  SOCKADDR_FLOW_OFFSET,
  sockaddrIpOffset,
  sockaddrLength,
  type UdpSocket,
  writeSockaddr,
} from '../../system/index.js';
import type { LocalAddress } from './udp-address.js';
import { SOL_UDP, UDP_SEGMENT } from './udp-segmentation.js';

/** What the sockets are set to; only packets that differ say so themselves. */
export const DEFAULT_HOP_LIMIT = 64;
/** That of nearly all packets: reliable ones, whose senders answer to marks. */
export const DEFAULT_TRAFFIC_CLASS: number = Ecn.ECT0;

/** More would leave the processor's cache before they are sent. */
const ARENA_BYTES = 256 * 1024;
/** Sends between two flushes. */
const MAX_RUNS = 64;
/** Older kernels take no more segments in one send. */
const MAX_SEGMENTS = 64;
/** Bytes of one send: a UDP datagram's 65507, with something to spare for whatever headers come. */
const MAX_RUN_BYTES = 65000;

/** What a peer of this machine is sent before it has to acknowledge something. */
const MOST_LOCAL_BYTES = 1024 * 1024;
/** Of a receive buffer one sender fills so much at most: packets take up to twice their size there. */
const SHARE_OF_BUFFER = 1 / 4;

const IPPROTO_IP = 0;
const IP_TOS = 1;
const IP_TTL = 2;
const IPPROTO_IPV6 = 41;
const IPV6_HOPLIMIT = 52;
const IPV6_TCLASS = 67;

/**
 * Packets that a run must have before a shorter one may end it. To cut a send into segments costs the kernel some two
 * microseconds, more than a second message in the same call: an acknowledgement behind a lone packet is one of its own.
 */
const MIN_PACKETS_BEFORE_SHORT = 3;

/** Errors by which a device says that it cannot have segments cut for it. */
const CANNOT_SEGMENT: readonly string[] = ['EINVAL', 'EIO', 'EOPNOTSUPP'];

/** Order of the ancillary messages of a run: which are in use depends on the run, but always a stretch of them. */
const SEGMENT_AT = 0;
const TRAFFIC_CLASS_AT = ANCILLARY_BYTES;
const HOP_LIMIT_AT = 2 * ANCILLARY_BYTES;
const CONTROL_BYTES = 3 * ANCILLARY_BYTES;

export class UdpSink implements PacketSink {
  readonly bytes: Uint8Array;
  ipId = 0;
  sentPackets = 0;
  sentBytes = 0;
  sendCalls = 0;
  sendErrors = 0;
  lastError = '';

  readonly #arena = new NativeBlock(ARENA_BYTES);
  readonly #messages = new MessageBlock(MAX_RUNS, CONTROL_BYTES);
  readonly #packetsOfRun = new Int32Array(MAX_RUNS);
  readonly #bytesOfRun = new Int32Array(MAX_RUNS);
  readonly #ipOffset: number;
  readonly #ipv6: boolean;
  #segmentation: boolean;

  #end = 0;
  #runs = 0;
  // The run that packets are being added to.
  #path: Path | undefined;
  #segmentBytes = 0;
  #runBytes = 0;
  #packets = 0;
  /** Largest packet that may still join; 0 when none may. */
  #room = 0;
  // The packet reserved and not yet committed.
  #reservedPath: Path | undefined;
  #reservedBytes = 0;
  #joins = false;

  constructor(
    private readonly socket: UdpSocket,
    address: LocalAddress,
    private readonly maxPacketBytes: number,
    segmentation: boolean,
    /** What the own socket holds of packets that have arrived. */
    private readonly receiveBufferBytes: number,
  ) {
    this.bytes = this.#arena.bytes;
    this.#ipv6 = address.ipv6;
    this.#segmentation = segmentation;
    const messages = this.#messages;
    const destination = { ip: new Uint8Array(16), port: ROCE_PORT, scopeId: address.scopeId };
    for (let run = 0; run < MAX_RUNS; run += 1) {
      writeSockaddr(messages.bytes, messages.nameOffset(run), address.ipv6, destination);
      messages.setNameLength(run, sockaddrLength(address.ipv6));
      const control = messages.controlOffset(run);
      const level = address.ipv6 ? IPPROTO_IPV6 : IPPROTO_IP;
      messages.writeAncillaryHeader(control + SEGMENT_AT, SOL_UDP, UDP_SEGMENT, 2);
      messages.writeAncillaryHeader(control + TRAFFIC_CLASS_AT, level, address.ipv6 ? IPV6_TCLASS : IP_TOS, 4);
      messages.writeAncillaryHeader(control + HOP_LIMIT_AT, level, address.ipv6 ? IPV6_HOPLIMIT : IP_TTL, 4);
    }
    this.#ipOffset = sockaddrIpOffset(address.ipv6);
  }

  get segmentation(): boolean {
    return this.#segmentation;
  }

  reserve(path: Path, lengthBytes: number): number {
    if (lengthBytes <= 0 || lengthBytes > this.maxPacketBytes) {
      throw new RangeError(`a packet of ${lengthBytes} bytes on a link that carries 1 to ${this.maxPacketBytes}`);
    }
    if (this.#end + lengthBytes > ARENA_BYTES) return -1;
    // A kernel that cuts a send into segments numbers them from 0 in the identification (protocol/udp.md 8.2).
    if (this.#fits(lengthBytes) && this.#continues(path)) {
      this.#joins = true;
      this.ipId = this.#packets;
    } else {
      if (this.#runs === MAX_RUNS) return -1;
      this.#joins = false;
      this.ipId = 0;
    }
    this.#reservedPath = path;
    this.#reservedBytes = lengthBytes;
    return this.#end;
  }

  /** As {@link PacketSink.windowBytes}: what the own socket holds, those of peers on this machine most likely do as well. */
  windowBytes({ dgid }: Path): number {
    if (!isLoopback(ipFromGid(dgid))) return 0;
    return Math.min(MOST_LOCAL_BYTES, this.receiveBufferBytes * SHARE_OF_BUFFER);
  }

  commit(): void {
    const path = this.#reservedPath;
    const lengthBytes = this.#reservedBytes;
    if (path === undefined || lengthBytes === 0) return;
    this.#reservedBytes = 0;
    if (this.#joins) {
      this.#packets += 1;
      this.#runBytes += lengthBytes;
      // Only the last segment may be shorter, and nothing may follow it.
      const full = lengthBytes < this.#segmentBytes || this.#packets === MAX_SEGMENTS;
      this.#room = full ? 0 : Math.min(this.#segmentBytes, MAX_RUN_BYTES - this.#runBytes);
    } else {
      this.#endRun();
      this.#beginRun(path, lengthBytes);
    }
    this.#end += lengthBytes;
    this.sentPackets += 1;
    this.sentBytes += lengthBytes;
  }

  /** Whether a packet of this size may join the run. */
  #fits(lengthBytes: number): boolean {
    if (lengthBytes > this.#room) return false;
    return lengthBytes === this.#segmentBytes || this.#packets >= MIN_PACKETS_BEFORE_SHORT;
  }

  /** Whether a packet along `path` may go in the same send as the run's. */
  #continues(path: Path): boolean {
    const run = this.#path;
    if (run === path) return true;
    if (run === undefined) return false;
    for (let i = 15; i >= 0; i -= 1) if (run.dgid[i] !== path.dgid[i]) return false;
    return run.trafficClass === path.trafficClass && run.hopLimit === path.hopLimit && run.flowLabel === path.flowLabel;
  }

  #beginRun(path: Path, lengthBytes: number): void {
    const run = this.#runs;
    this.#runs = run + 1;
    this.#path = path;
    this.#segmentBytes = lengthBytes;
    this.#runBytes = lengthBytes;
    this.#packets = 1;
    this.#room = this.#segmentation ? Math.min(lengthBytes, MAX_RUN_BYTES - lengthBytes) : 0;
    const messages = this.#messages;
    messages.setBuffer(run, this.#arena.address + this.#end);
    const name = messages.nameOffset(run);
    const ip = name + this.#ipOffset;
    if (this.#ipv6) {
      messages.bytes.set(path.dgid, ip);
      putU32(messages.bytes, name + SOCKADDR_FLOW_OFFSET, path.flowLabel);
    } else {
      for (let i = 0; i < 4; i += 1) messages.bytes[ip + i] = path.dgid[12 + i];
    }
  }

  #endRun(): void {
    const path = this.#path;
    if (this.#runs === 0 || path === undefined) return;
    const run = this.#runs - 1;
    const messages = this.#messages;
    messages.setBufferLength(run, this.#runBytes);
    this.#packetsOfRun[run] = this.#packets;
    this.#bytesOfRun[run] = this.#runBytes;
    const hopLimit = path.hopLimit === 0 ? DEFAULT_HOP_LIMIT : path.hopLimit;
    const special = hopLimit !== DEFAULT_HOP_LIMIT || path.trafficClass !== DEFAULT_TRAFFIC_CLASS;
    const control = messages.controlOffset(run);
    if (special) {
      messages.setAncillaryValue(control + TRAFFIC_CLASS_AT, path.trafficClass);
      messages.setAncillaryValue(control + HOP_LIMIT_AT, hopLimit);
    }
    if (this.#packets > 1) {
      messages.setAncillaryValue(control + SEGMENT_AT, this.#segmentBytes);
      messages.setControl(run, SEGMENT_AT, special ? CONTROL_BYTES : ANCILLARY_BYTES);
    } else {
      messages.setControl(run, TRAFFIC_CLASS_AT, special ? 2 * ANCILLARY_BYTES : 0);
    }
  }

  /** Sends what was committed. What the kernel does not take is dropped, as a wire would. */
  flush(): void {
    const runs = this.#runs;
    if (runs === 0) return;
    this.#endRun();
    const { libc } = this.socket.native;
    const messages = this.#messages;
    if (runs === 1) {
      this.sendCalls += 1;
      if (libc.sendmsg(this.socket.fd, messages.address(0), 0) < 0) this.#dropped(0);
    } else {
      let sent = 0;
      while (sent < runs) {
        this.sendCalls += 1;
        const accepted = libc.sendmmsg(this.socket.fd, messages.address(sent), runs - sent, 0);
        // An error is that of the first message left; those behind it are tried again without it.
        if (accepted <= 0) this.#dropped(sent);
        sent += Math.max(1, accepted);
      }
    }
    this.discard();
  }

  discard(): void {
    this.#end = 0;
    this.#runs = 0;
    this.#packets = 0;
    this.#room = 0;
    this.#path = undefined;
  }

  #dropped(run: number): void {
    const packets = this.#packetsOfRun[run];
    this.sendErrors += packets;
    this.sentPackets -= packets;
    this.sentBytes -= this.#bytesOfRun[run];
    this.lastError = this.socket.native.failure('sendmsg').code;
    if (packets > 1 && CANNOT_SEGMENT.includes(this.lastError)) this.#segmentation = false;
  }
}
