import { assert, Syndrome } from '../../ibta/index.js';
import {
  BTH_BYTES,
  type Crc32,
  ICRC_BYTES,
  opcodeHeaderBytes,
  type Path,
  sealIcrc,
  writeBth,
} from '../../wire/index.js';
import type { NicCounters } from '../counters.js';
import type { PacketSink } from '../../wire/index.js';

/** What of a QP every packet that it sends carries. */
export interface PacketOrigin {
  /** Whether all its packets go to one peer, so that they may wait while the way to it is full. Default: false. */
  readonly connected?: boolean;
  readonly path: Path;
  readonly destQpn: number;
  readonly pkey: number;
}

/** Builds packets in the link's memory: open, write extension headers and payload, close. */
export class PacketBuilder {
  /** Where the packet being built begins in {@link bytes}. */
  offset = 0;
  payload = 0;
  bytes: Uint8Array;
  #length = 0;
  #path: Path | undefined;

  constructor(
    private readonly sink: PacketSink,
    private readonly crc32: Crc32,
    private readonly counters: NicCounters,
    private readonly port: { readonly up: boolean },
  ) {
    this.bytes = sink.bytes;
  }

  /** Of the packet that found no room: the way that is full, or 0 where a flush makes room. */
  get fullWay(): number {
    return this.sink.fullWay ?? 0;
  }

  /** As {@link PacketSink.roomOf}. */
  roomOf(way: number): number {
    return this.sink.roomOf?.(way) ?? Infinity;
  }

  /** As {@link PacketSink.look}. */
  look(path: Path): number {
    return this.sink.look?.(path) ?? -1;
  }

  /** How much of a message a packet along `path` may carry where that is more than any path MTU; else 0. */
  segmentBytes(path: Path): number {
    return this.sink.segmentBytes?.(path) ?? 0;
  }

  /** Bytes that may be under way along `path` where that is known to be more than any receiver takes; else 0. */
  windowBytes(path: Path): number {
    return this.sink.windowBytes?.(path) ?? 0;
  }

  /**
   * Starts a packet; false when the sink has no room for it before its next flush, or on its way ({@link fullWay}).
   *
   * @param large its message is cut into pieces of {@link segmentBytes}, not of the path MTU
   */
  open(
    origin: PacketOrigin,
    opcode: number,
    psn: number,
    payloadBytes: number,
    solicited: boolean,
    ackRequest: boolean,
    large = false,
  ): boolean {
    const padCount = -payloadBytes & 3;
    const headerBytes = opcodeHeaderBytes[opcode];
    const length = headerBytes + payloadBytes + padCount + ICRC_BYTES;
    const offset = this.sink.reserve(origin.path, length, large, origin.connected);
    if (offset < 0) return false;
    const { bytes } = this.sink;
    this.bytes = bytes;
    writeBth(bytes, offset, opcode, padCount, solicited ? 1 : 0, ackRequest ? 1 : 0, origin.pkey, origin.destQpn, psn);
    this.offset = offset;
    this.payload = offset + headerBytes;
    this.#length = length;
    this.#path = origin.path;
    for (let i = 0, end = this.payload + payloadBytes; i < padCount; i += 1) bytes[end + i] = 0;
    return true;
  }

  get extension(): number {
    return this.offset + BTH_BYTES;
  }

  /** Says to whoever records packets why this one refuses a request. */
  remark(why: Syndrome): void {
    if (why !== Syndrome.NONE) this.sink.remark?.(why);
  }

  /** Seals the packet and hands it over. @param twice as of `sealIcrc` */
  close(twice = false): void {
    assert(this.#path !== undefined, 'a packet is closed that was not opened');
    // The reservation is replaced by the next one: what a port that is down sends gets nowhere.
    if (!this.port.up) {
      this.counters.sendErr += 1;
      return;
    }
    const { sink } = this;
    if (sink.unsealed !== true)
      sealIcrc(this.crc32, this.#path, this.bytes, this.offset, this.#length, sink.ipId, twice);
    sink.commit();
    this.counters.sentPkts += 1;
    this.counters.sentBytes += this.#length;
  }
}
