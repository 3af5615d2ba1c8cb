import { ICRC_BYTES, opcodeHeaderBytes, PacketMeta } from '../../../wire/index.js';
import type { CopyEngine } from './copy-engine.js';

/** Of one half of a queue pair: some turns' worth of what a link gives. */
const MAX_PACKETS = 128;
const MAX_BYTES = 512 * 1024;

/** A packet that waits, as it came. Frames of Ethernet have no `meta`. */
export interface ParkedPacket {
  readonly bytes: Uint8Array;
  readonly meta: PacketMeta | undefined;
}

/** Packets of one half of a queue pair that wait for memory, in the order in which they came. */
export class ParkedPackets {
  readonly #packets: ParkedPacket[] = [];
  #bytes = 0;

  constructor(private readonly engine: CopyEngine) {}

  get first(): ParkedPacket | undefined {
    return this.#packets[0];
  }

  /**
   * Adds one. The first always finds room: what is under way for it is known to be its own.
   *
   * @returns false when there are too many, and it is lost
   */
  add(bytes: Uint8Array, offset: number, lengthBytes: number, meta: PacketMeta | undefined): boolean {
    const { length } = this.#packets;
    const full = length >= MAX_PACKETS || this.#bytes + lengthBytes > MAX_BYTES || !this.engine.mayPark;
    if (full && length > 0) return false;
    this.#packets.push({ bytes: copyOf(bytes, offset, lengthBytes, meta), meta: meta && copyOfMeta(meta) });
    this.#count(lengthBytes);
    return true;
  }

  /** The first one needs not wait any more. */
  removeFirst(): void {
    const packet = this.#packets.shift();
    if (packet !== undefined) this.#count(-packet.bytes.length);
  }

  /** @returns how many there were */
  clear(): number {
    const { length } = this.#packets;
    this.#packets.length = 0;
    this.#count(-this.#bytes);
    return length;
  }

  #count(lengthBytes: number): void {
    this.#bytes += lengthBytes;
    this.engine.parkedBytes += lengthBytes;
  }
}

/** A packet in one piece, wherever its payload lies. */
function copyOf(bytes: Uint8Array, offset: number, lengthBytes: number, meta: PacketMeta | undefined): Uint8Array {
  if (meta?.payload === undefined) return bytes.slice(offset, offset + lengthBytes);
  const copy = new Uint8Array(lengthBytes);
  const header = opcodeHeaderBytes[bytes[offset]];
  copy.set(bytes.subarray(offset, offset + header));
  const begin = offset + header + meta.payloadShift;
  copy.set(meta.payload.subarray(begin, begin + lengthBytes - header - ICRC_BYTES), header);
  return copy;
}

/** Links use the same object again for the next packet. */
function copyOfMeta(meta: PacketMeta): PacketMeta {
  const copy = new PacketMeta();
  copy.source.set(meta.source);
  copy.destination.set(meta.destination);
  copy.ipv6 = meta.ipv6;
  copy.sourcePort = meta.sourcePort;
  copy.trafficClass = meta.trafficClass;
  copy.hopLimit = meta.hopLimit;
  copy.flowLabel = meta.flowLabel;
  copy.ipId = meta.ipId;
  copy.unsealed = meta.unsealed;
  copy.way = meta.way;
  copy.segmentBytes = meta.segmentBytes;
  return copy;
}
