/** Looking on: a link that records all that goes through another. */
import {
  buildIpUdpHeader,
  createPath,
  type Crc32,
  crc32 as plainCrc32,
  fillUdpChecksum,
  getU16,
  IcrcVerifier,
  type IpUdpHeader,
  ipUdpHeaderBytes,
  type PacketMeta,
  type Path,
  pathHeader,
  sealIcrc,
} from '../wire/index.js';
import { LinkAround } from './link-around.js';
import type { FramePort, Link, PacketReceiver, PacketSink } from './link.js';

export interface PacketRecorder {
  /**
   * Takes one packet. Called from the middle of the traffic, so it must not throw.
   *
   * @param ipPacket from the IP header to its end; scratch afterwards
   * @param comment for who reads it, beside the packet
   * @returns whether it is kept
   */
  record(timestampNs: bigint, ipPacket: Uint8Array, direction: 'in' | 'out', comment?: string): boolean;
  /** Puts down what was taken so far, if it only lies in memory. */
  sync(): void;
  /** Idempotent. */
  close(): void;
}

export interface TapOptions {
  /** Nanoseconds since 1970, or of virtual time. */
  readonly clockNs: () => bigint;
  /** Used to find the IP identification of packets received. Default: the one in TypeScript. */
  readonly crc32?: Crc32 | undefined;
  /** What a reason to refuse a request is in words ({@link PacketSink.remark}); absent where nothing is to be said. */
  readonly reasonOf?: (why: number) => string | undefined;
}

const LARGEST_HEADERS = 48;

const ETHERNET_HEADER_BYTES = 14;
const ETHERTYPE_IPV4 = 0x0800;
const ETHERTYPE_IPV6 = 0x86dd;

/** Puts the IP and UDP headers back that a socket takes away, and hands the whole to the recorder. */
class Reporter {
  readonly #crc32: Crc32;
  readonly #verifier: IcrcVerifier;
  readonly #clockNs: () => bigint;
  #packet: Uint8Array;
  readonly #reasonOf: TapOptions['reasonOf'];
  packets = 0;
  missed = 0;

  constructor(
    private readonly recorder: PacketRecorder,
    maxPacketBytes: number,
    { clockNs, crc32, reasonOf }: TapOptions,
  ) {
    this.#reasonOf = reasonOf;
    this.#clockNs = clockNs;
    this.#crc32 = crc32 ?? plainCrc32;
    this.#verifier = new IcrcVerifier(this.#crc32);
    this.#packet = new Uint8Array(LARGEST_HEADERS + maxPacketBytes);
  }

  /** @param why 0, or why it refuses a request */
  sent(path: Path, sink: PacketSink, offset: number, lengthBytes: number, why: number): void {
    const { ipId, bytes } = sink;
    const comment = why === 0 ? undefined : this.#reasonOf?.(why);
    const unsealed = sink.unsealed === true ? path : undefined;
    this.#report('out', pathHeader(path, ipId), bytes, offset, lengthBytes, unsealed, comment);
  }

  received(meta: PacketMeta, bytes: Uint8Array, offset: number, lengthBytes: number): void {
    // A packet whose ICRC is wrong whatever the identification is recorded with 0, and is wrong in the capture as well.
    const ipId = meta.ipId >= 0 ? meta.ipId : Math.max(0, this.#verifier.verify(bytes, offset, lengthBytes, meta));
    const { ipv6, source, destination, sourcePort, trafficClass, hopLimit, flowLabel } = meta;
    const header = { ipv6, source, destination, sourcePort, trafficClass, hopLimit, flowLabel, ipId };
    const unsealed = meta.unsealed ? createPath({ sgid: source, dgid: destination, sourcePort }) : undefined;
    this.#report('in', header, bytes, offset, lengthBytes, unsealed);
  }

  /** @param unsealed where a packet that has no ICRC goes: a capture shows one, for those who check it */
  #report(
    direction: 'in' | 'out',
    header: IpUdpHeader,
    bytes: Uint8Array,
    offset: number,
    lengthBytes: number,
    unsealed: Path | undefined,
    comment?: string,
  ): void {
    const headers = ipUdpHeaderBytes(header.ipv6);
    if (headers + lengthBytes > this.#packet.length) this.#packet = new Uint8Array(headers + lengthBytes);
    buildIpUdpHeader(this.#packet, 0, header, lengthBytes);
    this.#packet.set(bytes.subarray(offset, offset + lengthBytes), headers);
    if (unsealed !== undefined) sealIcrc(this.#crc32, unsealed, this.#packet, headers, lengthBytes, header.ipId);
    // IPv4 lets a checksum of 0 say that there is none; in IPv6 a reader would call that an error.
    if (header.ipv6) fillUdpChecksum(this.#packet, 0, true);
    this.#keep(direction, this.#packet.subarray(0, headers + lengthBytes), comment);
  }

  /** A capture holds IP packets, so of other frames it knows nothing. */
  frame(direction: 'in' | 'out', bytes: Uint8Array, offset: number, lengthBytes: number): void {
    if (lengthBytes <= ETHERNET_HEADER_BYTES) return;
    const type = getU16(bytes, offset + ETHERNET_HEADER_BYTES - 2);
    if (type !== ETHERTYPE_IPV4 && type !== ETHERTYPE_IPV6) return;
    this.#keep(direction, bytes.subarray(offset + ETHERNET_HEADER_BYTES, offset + lengthBytes));
  }

  #keep(direction: 'in' | 'out', ipPacket: Uint8Array, comment?: string): void {
    if (this.recorder.record(this.#clockNs(), ipPacket, direction, comment)) this.packets += 1;
    else this.missed += 1;
  }
}

class TappedSink implements PacketSink {
  #path: Path | undefined;
  #offset = -1;
  #lengthBytes = 0;
  #why = 0;

  constructor(
    private readonly inner: PacketSink,
    private readonly reporter: Reporter,
  ) {}

  get bytes(): Uint8Array {
    return this.inner.bytes;
  }

  get ipId(): number {
    return this.inner.ipId;
  }

  get unsealed(): boolean {
    return this.inner.unsealed === true;
  }

  get fullWay(): number {
    return this.inner.fullWay ?? 0;
  }

  reserve(path: Path, lengthBytes: number, large?: boolean, waits?: boolean): number {
    this.#path = path;
    this.#why = 0;
    this.#lengthBytes = lengthBytes;
    this.#offset = this.inner.reserve(path, lengthBytes, large, waits);
    return this.#offset;
  }

  roomOf(way: number): number {
    return this.inner.roomOf?.(way) ?? Infinity;
  }

  look(path: Path): number {
    return this.inner.look?.(path) ?? -1;
  }

  segmentBytes(path: Path): number {
    return this.inner.segmentBytes?.(path) ?? 0;
  }

  windowBytes(path: Path): number {
    return this.inner.windowBytes?.(path) ?? 0;
  }

  remark(why: number): void {
    this.#why = why;
  }

  commit(): void {
    if (this.#path !== undefined && this.#offset >= 0) {
      this.reporter.sent(this.#path, this.inner, this.#offset, this.#lengthBytes, this.#why);
      this.#offset = -1;
    }
    this.inner.commit();
  }
}

class TappedFrames implements FramePort {
  readonly mac: Uint8Array;
  readonly maxFrameBytes: number;

  constructor(
    readonly port: FramePort,
    private readonly reporter: Reporter,
  ) {
    this.mac = port.mac;
    this.maxFrameBytes = port.maxFrameBytes;
  }

  send(bytes: Uint8Array, offset: number, lengthBytes: number): number {
    const errno = this.port.send(bytes, offset, lengthBytes);
    if (errno === 0) this.reporter.frame('out', bytes, offset, lengthBytes);
    return errno;
  }

  close(): void {
    this.port.close();
  }
}

/** A link with a tap on it. What is sent is recorded when it is committed, what is received before it is handed over. */
export class TappedLink extends LinkAround {
  readonly sink: PacketSink;
  readonly #reporter: Reporter;
  readonly #receiver: Required<PacketReceiver>;
  #target: PacketReceiver | undefined;
  #frames: TappedFrames | undefined;

  constructor(
    inner: Link,
    private readonly recorder: PacketRecorder,
    options: TapOptions,
  ) {
    super(inner);
    const reporter = new Reporter(recorder, inner.maxPacketBytes, options);
    this.#reporter = reporter;
    this.sink = new TappedSink(inner.sink, reporter);
    this.#receiver = {
      receive: (bytes, offset, lengthBytes, meta) => {
        reporter.received(meta, bytes, offset, lengthBytes);
        this.#target?.receive(bytes, offset, lengthBytes, meta);
      },
      receiveFrame: (bytes, offset, lengthBytes) => {
        reporter.frame('in', bytes, offset, lengthBytes);
        this.#target?.receiveFrame?.(bytes, offset, lengthBytes);
      },
      onGone: (way) => this.#target?.onGone?.(way),
    };
  }

  receive(receiver: PacketReceiver, maxPackets: number): number {
    this.#target = receiver;
    return this.inner.receive(this.#receiver, maxPackets);
  }

  override openFrames(): FramePort {
    const port = this.inner.openFrames();
    if (this.#frames?.port !== port) this.#frames = new TappedFrames(port, this.#reporter);
    return this.#frames;
  }

  /** Has the recorder put down what it has: to be called before a pause. */
  sync(): void {
    this.recorder.sync();
  }

  override close(): void {
    super.close();
    this.recorder.close();
  }

  override statistics(): Record<string, number> {
    const { packets, missed } = this.#reporter;
    return { ...super.statistics(), captured_packets: packets, capture_missed_packets: missed };
  }
}

/** Records all that goes through a link. The link returned takes the place of the one given. */
export function tap(link: Link, recorder: PacketRecorder, options: TapOptions): TappedLink {
  return new TappedLink(link, recorder, options);
}
