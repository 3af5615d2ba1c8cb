import { AccessFlags, assert, Syndrome } from '../../../ibta/index.js';
import { Cqe, SgeWords } from '../../rings/layout.js';
import type { MemoryRegion } from '../memory-region.js';
import type { MemoryTable } from '../memory-table.js';
import type { RegionMemory } from '../region-memory.js';
import type { RemoteGrant } from '../remote-grant.js';
import { type AtomicOperation, CopyStatus } from './foreign-memory.js';
import type { CopyingQp, QpCopies, Side } from './qp-copies.js';
import type { ReadAhead } from './read-ahead.js';
import { ViewCache } from './view-cache.js';
import { copyByWords, LOOP_BYTES, WordLens } from './word-copy.js';
import type { WriteBehind } from './write-behind.js';

/** Places of packets in a link's memory: some 16 in each of the datagrams that one call receives. */
const PACKET_VIEWS = 512;
/** Of a message that lies, in part at least, in memory that is reached by copies of its own. */
const FOREIGN = -1;

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

  /**
   * Copies `lengthBytes` of the message, from `messageOffset` on, out of memory. `message` tells it from the other messages of
   * the queue pair.
   */
  gather(
    words: Int32Array,
    at: number,
    count: number,
    pd: number,
    messageOffset: number,
    target: Uint8Array,
    targetOffset: number,
    lengthBytes: number,
    qp: CopyingQp,
    message: number,
  ): CopyStatus {
    const left = this.#walk(words, at, count, pd, messageOffset, lengthBytes, target, targetOffset, undefined);
    if (left === 0) return CopyStatus.READY;
    return left === FOREIGN
      ? this.#gatherForeign(words, at, count, pd, messageOffset, target, targetOffset, lengthBytes, qp, message)
      : this.#failWalk(messageOffset + lengthBytes, left);
  }

  /**
   * Copies `lengthBytes` of a packet to where `messageOffset` of the message belongs.
   *
   * @param ends the message ends with it: what it has brought is in memory when this is {@link CopyStatus.READY}
   */
  scatter(
    words: Int32Array,
    at: number,
    count: number,
    pd: number,
    messageOffset: number,
    source: Uint8Array,
    sourceOffset: number,
    lengthBytes: number,
    qp: CopyingQp,
    side: Side,
    ends: boolean,
  ): CopyStatus {
    let skip = messageOffset;
    let left = lengthBytes;
    let position = sourceOffset;
    for (let i = 0; i < count && left > 0; i += 1) {
      const length = words[at + i * SgeWords.SIZE + SgeWords.LENGTH] >>> 0;
      if (skip >= length) {
        skip -= length;
        continue;
      }
      const region = this.#locate(words, at, i, pd, AccessFlags.LOCAL_WRITE);
      if (region === undefined) return CopyStatus.FAILED;
      const part = Math.min(length - skip, left);
      if (region.isPlain) this.store(region, this.#offset + skip, source, position, part);
      else if (!region.isNull) {
        const buffer = qp.openCopies()[side];
        const admitted = buffer.admit(left);
        if (admitted !== CopyStatus.READY) return this.#concluded(admitted, buffer);
        buffer.store(region, undefined, this.#offset + skip, source, position, part);
      }
      position += part;
      left -= part;
      skip = 0;
    }
    if (left > 0) return this.#failLength(messageOffset + lengthBytes, left);
    return ends && qp.copies !== undefined ? this.#settle(qp.copies, side) : CopyStatus.READY;
  }

  /**
   * As {@link scatter}, for what a peer writes by its key to foreign memory.
   *
   * @param offset where in the region of the grant
   */
  storeForeign(
    qp: CopyingQp,
    grant: RemoteGrant,
    offset: number,
    source: Uint8Array,
    sourceOffset: number,
    lengthBytes: number,
    ends: boolean,
  ): CopyStatus {
    const copies = qp.openCopies();
    const admitted = copies.requests.admit(lengthBytes);
    if (admitted !== CopyStatus.READY) return this.#concluded(admitted, copies.requests);
    copies.requests.store(grant.region, grant, offset, source, sourceOffset, lengthBytes);
    return ends ? this.#settle(copies, 'requests') : CopyStatus.READY;
  }

  /**
   * Copies what a peer reads by its key out of foreign memory.
   *
   * @param read tells this READ from the others of the queue pair
   * @param readOffset how much of it was copied before
   * @param readBytes all of it
   * @param offset where in the region of the grant it begins
   */
  loadForeign(
    qp: CopyingQp,
    grant: RemoteGrant,
    read: number,
    readOffset: number,
    readBytes: number,
    offset: number,
    target: Uint8Array,
    targetOffset: number,
    lengthBytes: number,
  ): CopyStatus {
    const { answering } = qp.openCopies();
    let state = answering.state(read, readOffset, lengthBytes);
    if (state === undefined) {
      answering.begin(read, readOffset);
      const window = Math.min(readBytes - readOffset, answering.window(lengthBytes));
      answering.add(grant.region, grant, offset + readOffset, window);
      answering.start();
      state = answering.state(read, readOffset, lengthBytes);
    }
    return this.#handOut(answering, state, target, targetOffset, lengthBytes);
  }

  /**
   * Executes an atomic that a peer names by its key on foreign memory.
   *
   * @param answer takes the value found, big-endian as it goes on the wire
   */
  atomicForeign(
    qp: CopyingQp,
    grant: RemoteGrant,
    offset: number,
    operation: AtomicOperation,
    answer: Uint8Array,
  ): CopyStatus {
    const { requests } = qp.openCopies();
    const state = requests.atomic(grant.region, grant, offset, operation);
    for (let i = 0; i < 8; i += 1) answer[i] = requests.found[7 - i];
    return state === CopyStatus.FAILED ? this.#fault(grant.region, offset, requests.faultIsOfDevice) : state;
  }

  /** {@link gather} of a message that lies, in part at least, in foreign memory: what comes next of it is read at once. */
  #gatherForeign(
    words: Int32Array,
    at: number,
    count: number,
    pd: number,
    messageOffset: number,
    target: Uint8Array,
    targetOffset: number,
    lengthBytes: number,
    qp: CopyingQp,
    message: number,
  ): CopyStatus {
    const { sending } = qp.openCopies();
    let state = sending.state(message, messageOffset, lengthBytes);
    if (state === undefined) {
      sending.begin(message, messageOffset);
      const window = sending.window(lengthBytes);
      const left = this.#walk(words, at, count, pd, messageOffset, window, target, targetOffset, sending);
      const missing = lengthBytes - (window - left);
      // A piece that is wrong concerns the packet that needs it.
      if (missing > 0) {
        sending.drop();
        return this.#failWalk(messageOffset + lengthBytes, missing);
      }
      sending.start();
      state = sending.state(message, messageOffset, lengthBytes);
    }
    return this.#handOut(sending, state, target, targetOffset, lengthBytes);
  }

  /**
   * Goes over the pieces of memory in which a part of a message lies, and copies them into a packet, or adds them to what is read
   * `ahead`.
   *
   * @returns how many bytes are missing, for want of memory or of a good key, which {@link syndrome} tells; FOREIGN when a piece
   *   cannot be copied here
   */
  #walk(
    words: Int32Array,
    at: number,
    count: number,
    pd: number,
    messageOffset: number,
    lengthBytes: number,
    target: Uint8Array,
    targetOffset: number,
    ahead: ReadAhead | undefined,
  ): number {
    this.syndrome = Syndrome.NONE;
    let skip = messageOffset;
    let left = lengthBytes;
    let position = targetOffset;
    for (let i = 0; i < count && left > 0; i += 1) {
      const length = words[at + i * SgeWords.SIZE + SgeWords.LENGTH] >>> 0;
      if (skip >= length) {
        skip -= length;
        continue;
      }
      const region = this.#locate(words, at, i, pd, 0);
      if (region === undefined) return left;
      const part = Math.min(length - skip, left);
      if (ahead !== undefined) ahead.add(region, undefined, this.#offset + skip, part);
      else if (region.isPlain) this.load(region, this.#offset + skip, target, position, part);
      else if (region.isNull) target.fill(0, position, position + part);
      else return FOREIGN;
      position += part;
      left -= part;
      skip = 0;
    }
    return left;
  }

  /** Why {@link #walk} has left some bytes of a part that reaches up to `endOffset` of the message. */
  #failWalk(endOffset: number, missing: number): CopyStatus {
    return this.syndrome === Syndrome.NONE ? this.#failLength(endOffset, missing) : CopyStatus.FAILED;
  }

  #handOut(
    buffer: ReadAhead,
    state: CopyStatus | undefined,
    target: Uint8Array,
    targetOffset: number,
    lengthBytes: number,
  ): CopyStatus {
    assert(state !== undefined, 'what was read is not what was asked for');
    if (state === CopyStatus.READY) buffer.take(target, targetOffset, lengthBytes);
    return this.#concluded(state, buffer);
  }

  #settle(copies: QpCopies, side: Side): CopyStatus {
    const buffer = copies[side];
    return this.#concluded(buffer.settle(), buffer);
  }

  #concluded(state: CopyStatus, buffer: ReadAhead | WriteBehind): CopyStatus {
    if (state === CopyStatus.FAILED) this.#fault(buffer.faultRegion, buffer.faultOffset, buffer.faultIsOfDevice);
    return state;
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

  /** The byte at `offset` of a region is not there, or its device has failed. */
  #fault(region: RegionMemory | undefined, offset: number, isOfDevice: boolean): CopyStatus {
    const lo = (region === undefined ? 0 : region.iovaLo >>> 0) + offset;
    const hi = (region === undefined ? 0 : region.iovaHi) + Math.floor(lo / 2 ** 32);
    const syndrome = isOfDevice ? Syndrome.LOCAL_MEMORY_DEVICE : Syndrome.LOCAL_MEMORY_FAULT;
    const failure = isOfDevice ? (region?.foreign?.failure ?? 0) : 0;
    return this.#fail(syndrome, region?.lkey ?? 0, hi | 0, lo | 0, failure, 0);
  }

  /** The entries have too few bytes for a message that reaches up to `endOffset`: `missing` fewer. */
  #failLength(endOffset: number, missing: number): CopyStatus {
    return this.#fail(Syndrome.LOCAL_LENGTH, endOffset, endOffset - missing, 0, 0, 0);
  }

  #fail(syndrome: Syndrome, a: number, b: number, c: number, d: number, e: number): CopyStatus {
    this.syndrome = syndrome;
    const { detail } = this;
    detail[0] = a;
    detail[1] = b;
    detail[2] = c;
    detail[3] = d;
    detail[4] = e;
    detail[5] = 0;
    return CopyStatus.FAILED;
  }
}
