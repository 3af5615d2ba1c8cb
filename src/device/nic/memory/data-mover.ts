import { AccessFlags, Syndrome } from '../../ibta/index.js';
import { Cqe, SgeWords } from '../rings/layout.js';
import type { MemoryRegion } from './memory-region.js';
import type { MemoryTable } from './memory-table.js';
import type { RegionMemory } from './region-memory.js';
import { ViewCache } from './view-cache.js';
import { copyByWords, LOOP_BYTES, WordLens } from './word-copy.js';

/** Places of packets in a link's memory: some 16 in each of the datagrams that one call receives. */
const PACKET_VIEWS = 512;

/**
 * Moves message bytes between packets and the memory that scatter/gather entries name. Keys are looked up at every
 * packet, never remembered: a region that was deregistered in the middle of a message must not be touched again.
 */
export class DataMover {
  /** Why the last call failed, with the numbers that belong to it. */
  syndrome: Syndrome = Syndrome.NONE;
  readonly detail = new Int32Array(Cqe.DETAIL_WORDS);
  readonly #outgoing = new WordLens();
  readonly #incoming = new WordLens();
  readonly #packets = new ViewCache(PACKET_VIEWS);
  /** Where in its region the entry last looked up begins. */
  #offset = 0;

  constructor(private readonly memory: MemoryTable) {}

  /** Whether all `count` entries at word `at` name memory of `pd` that allows `access`. */
  check(words: Int32Array, at: number, count: number, pd: number, access: number): boolean {
    for (let i = 0; i < count; i += 1) {
      if (words[at + i * SgeWords.SIZE + SgeWords.LENGTH] === 0) continue;
      if (this.#locate(words, at, i, pd, access) === undefined) return false;
    }
    return true;
  }

  /** Copies from a region into a packet, without a look at any key. */
  load(region: RegionMemory, offset: number, packet: Uint8Array, packetOffset: number, lengthBytes: number): void {
    if (lengthBytes > LOOP_BYTES) {
      packet.set(region.part(offset, lengthBytes), packetOffset);
      return;
    }
    const words = this.#outgoing.of(packet);
    copyByWords(packet, words, packetOffset, region.bytes, region.words, offset, lengthBytes);
  }

  /** Copies from a packet into a region, without a look at any key. */
  store(region: RegionMemory, offset: number, packet: Uint8Array, packetOffset: number, lengthBytes: number): void {
    if (lengthBytes > LOOP_BYTES) {
      region.bytes.set(this.#packets.of(packet, packetOffset, lengthBytes), offset);
      return;
    }
    const words = this.#incoming.of(packet);
    copyByWords(region.bytes, region.words, offset, packet, words, packetOffset, lengthBytes);
  }

  /** Copies `lengthBytes` of the message, from `messageOffset` on, out of memory. */
  gather(
    words: Int32Array,
    at: number,
    count: number,
    pd: number,
    messageOffset: number,
    target: Uint8Array,
    targetOffset: number,
    lengthBytes: number,
  ): boolean {
    return this.#move(words, at, count, pd, 0, messageOffset, target, targetOffset, lengthBytes);
  }

  /** Copies `lengthBytes` of a packet to where `messageOffset` of the message belongs. */
  scatter(
    words: Int32Array,
    at: number,
    count: number,
    pd: number,
    messageOffset: number,
    source: Uint8Array,
    sourceOffset: number,
    lengthBytes: number,
  ): boolean {
    return this.#move(words, at, count, pd, AccessFlags.LOCAL_WRITE, messageOffset, source, sourceOffset, lengthBytes);
  }

  #move(
    words: Int32Array,
    at: number,
    count: number,
    pd: number,
    access: number,
    messageOffset: number,
    packet: Uint8Array,
    packetOffset: number,
    lengthBytes: number,
  ): boolean {
    let skip = messageOffset;
    let left = lengthBytes;
    let position = packetOffset;
    for (let i = 0; i < count && left > 0; i += 1) {
      const length = words[at + i * SgeWords.SIZE + SgeWords.LENGTH] >>> 0;
      if (skip >= length) {
        skip -= length;
        continue;
      }
      const region = this.#locate(words, at, i, pd, access);
      if (region === undefined) return false;
      const part = Math.min(length - skip, left);
      if (region.isNull) {
        if (access === 0) packet.fill(0, position, position + part);
      } else if (access === 0) this.load(region, this.#offset + skip, packet, position, part);
      else this.store(region, this.#offset + skip, packet, position, part);
      position += part;
      left -= part;
      skip = 0;
    }
    return (
      left === 0 ||
      this.#fail(Syndrome.LOCAL_LENGTH, messageOffset + lengthBytes, messageOffset + lengthBytes - left, 0, 0, 0)
    );
  }

  /** The region of entry `index`, when its key is good for all of the entry; {@link #offset} is where it begins. */
  #locate(words: Int32Array, at: number, index: number, pd: number, access: number): MemoryRegion | undefined {
    const sge = at + index * SgeWords.SIZE;
    const hi = words[sge + SgeWords.ADDR_HI];
    const lo = words[sge + SgeWords.ADDR_LO];
    const length = words[sge + SgeWords.LENGTH] >>> 0;
    const lkey = words[sge + SgeWords.LKEY];
    const region = this.memory.byLkey(lkey);
    const offset = region === undefined ? -1 : region.locate(hi, lo, length);
    let syndrome: Syndrome = Syndrome.NONE;
    if (region === undefined) syndrome = Syndrome.LOCAL_KEY_UNKNOWN;
    else if (region.pd !== pd) syndrome = Syndrome.LOCAL_KEY_PD;
    else if (!region.allows(access)) syndrome = Syndrome.LOCAL_KEY_ACCESS;
    else if (offset < 0) syndrome = Syndrome.LOCAL_KEY_RANGE;
    else if (!region.present) syndrome = Syndrome.LOCAL_MEMORY_GONE;
    if (syndrome !== Syndrome.NONE) {
      this.#fail(syndrome, lkey, index, hi, lo, length);
      return undefined;
    }
    this.#offset = offset;
    return region;
  }

  #fail(syndrome: Syndrome, a: number, b: number, c: number, d: number, e: number): false {
    this.syndrome = syndrome;
    const { detail } = this;
    detail[0] = a;
    detail[1] = b;
    detail[2] = c;
    detail[3] = d;
    detail[4] = e;
    detail[5] = 0;
    return false;
  }
}
