/**
 * Two streams in memory that do all that a `StreamSocket` may do to its owner, by a seed: they take few bytes at a time, tell late, and bring
 * what was written in other pieces. Nothing is told from within a call.
 */
import type { FullAddress } from '../../../../api/rdmacm/index.js';
import { VerbsError } from '../../../../api/verbs/index.js';
import type { Direction, StreamEvents, StreamSocket } from '../../../rsocket/index.js';
import { SeededRandom } from '../../../../device/link/index.js';

export interface Unkindness {
  /** Bytes that may wait between the two, each way. */
  readonly roomBytes: number;
  readonly mostTaken: number;
  /** Turns of the event loop that anything may be late. */
  readonly latest: number;
}

export const UNKIND: Unkindness = { roomBytes: 5_000, mostTaken: 900, latest: 3 };
/** Quick, for tests about other things. */
export const KIND: Unkindness = { roomBytes: 128 * 1024, mostTaken: 128 * 1024, latest: 0 };

const NOBODY: StreamEvents = { readable: () => {}, writable: () => {}, drained: () => {}, closed: () => {} };
const LONG_MS = 2 ** 30;

export function failure(errno: 'ECONNRESET' | 'EPIPE' | 'ETIMEDOUT'): VerbsError {
  return new VerbsError('rsend', { errno, message: 'the connection has ended', advice: '' });
}

/** One of the two. */
export class MemoryStream implements StreamSocket {
  events = NOBODY;
  bytesRead = 0;
  bytesWritten = 0;
  isReadEnded = false;
  isWriteEnded = false;
  /** What `setKeepAlive` was told. */
  keepAliveSeconds = 0;
  readonly #random: SeededRandom;
  readonly #how: Unkindness;
  readonly #life = setInterval(() => {}, LONG_MS);
  #peer: MemoryStream | undefined;
  #inbox: Uint8Array[] = [];
  #inboxBytes = 0;
  /** Taken, and not yet there. */
  #underWay: Uint8Array[] = [];
  #underWayBytes = 0;
  #isTravelling = false;
  #owesWritable = false;
  #isEndSent = false;
  #isClosing = false;
  #isGone = false;
  #error: VerbsError | undefined;

  constructor(
    readonly localAddress: FullAddress,
    readonly remoteAddress: FullAddress,
    random: SeededRandom,
    how: Unkindness,
  ) {
    this.#random = random;
    this.#how = how;
  }

  /** Makes two of them peers. */
  static join(a: MemoryStream, b: MemoryStream): void {
    a.#peer = b;
    b.#peer = a;
  }

  get readableBytes(): number {
    return this.#inboxBytes;
  }

  get unacknowledgedBytes(): number {
    return this.#underWayBytes;
  }

  write(bytes: Uint8Array): number {
    if (this.#error !== undefined) throw this.#error;
    if (this.isWriteEnded) throw failure('EPIPE');
    const room = this.#how.roomBytes - this.#underWayBytes - (this.#peer?.readableBytes ?? 0);
    const taken = Math.max(0, Math.min(bytes.length, room, this.#random.below(this.#how.mostTaken + 1)));
    if (taken < bytes.length) {
      this.#owesWritable = true;
      this.#travel();
    }
    if (taken === 0) return 0;
    this.bytesWritten += taken;
    this.#underWay.push(bytes.slice(0, taken));
    this.#underWayBytes += taken;
    this.#travel();
    return taken;
  }

  read(into: Uint8Array): number {
    let count = 0;
    while (count < into.length && this.#inbox.length > 0) {
      const [first] = this.#inbox;
      const part = first.subarray(0, into.length - count);
      into.set(part, count);
      count += part.length;
      if (part.length === first.length) this.#inbox.shift();
      else this.#inbox[0] = first.subarray(part.length);
    }
    this.#inboxBytes -= count;
    this.bytesRead += count;
    if (count > 0 && this.#peer !== undefined) this.#peer.#travel();
    return count;
  }

  peek(): Uint8Array {
    return this.#inbox.at(0) ?? new Uint8Array(0);
  }

  consume(byteLength: number): void {
    this.read(new Uint8Array(byteLength));
  }

  shutdown(direction: Direction): void {
    if (direction !== 'write') this.isReadEnded = true;
    if (direction === 'read') return;
    this.isWriteEnded = true;
    this.#travel();
  }

  close(lingerMs?: number): void {
    if (this.#isClosing || this.#isGone) return;
    this.#isClosing = true;
    if (lingerMs === 0) {
      const peer = this.#peer;
      this.#later(() => peer?.fail(failure('ECONNRESET')));
      this.#underWay = [];
      this.#underWayBytes = 0;
      this.isReadEnded = true;
      this.isWriteEnded = true;
      this.fail(undefined);
      return;
    }
    this.shutdown('both');
  }

  /** Ends it at once, as a lost connection does. */
  fail(error: VerbsError | undefined): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#error = error ?? failure('ECONNRESET');
    clearInterval(this.#life);
    this.#later(() => this.events.closed(error));
  }

  setKeepAlive(seconds: number): void {
    this.keepAliveSeconds = seconds;
  }

  ref(): void {
    this.#life.ref();
  }

  unref(): void {
    this.#life.unref();
  }

  explainStall(): string | undefined {
    return this.#owesWritable ? 'the peer has not read what it has' : undefined;
  }

  #later(action: () => void): void {
    const turns = this.#random.below(this.#how.latest + 1);
    const wait = (left: number): void => void setImmediate(() => (left === 0 ? action() : wait(left - 1)));
    wait(turns);
  }

  /** Brings a part of what is under way to the peer, until all is there. */
  #travel(): void {
    if (this.#isTravelling || this.#isGone) return;
    this.#isTravelling = true;
    this.#later(() => {
      this.#isTravelling = false;
      if (this.#isGone) return;
      this.#step();
    });
  }

  #step(): void {
    const peer = this.#peer;
    const first = this.#underWay.shift();
    if (first !== undefined && peer !== undefined) {
      this.#underWayBytes -= first.length;
      peer.#arrive(first);
    }
    if (this.#owesWritable && this.#underWayBytes + (peer?.readableBytes ?? 0) < this.#how.roomBytes) {
      this.#owesWritable = false;
      this.events.writable();
    }
    if (this.#underWay.length > 0) {
      this.#travel();
      return;
    }
    if (!this.isWriteEnded) return;
    if (!this.#isEndSent) {
      this.#isEndSent = true;
      if (peer !== undefined) peer.#onEnd();
    }
    const isOver = this.#isClosing || peer?.isWriteEnded === true;
    if (isOver && (this.#isClosing || (this.isReadEnded && this.#inboxBytes === 0))) this.#depart();
  }

  #depart(): void {
    const peer = this.#peer;
    if (this.#isGone) return;
    this.fail(undefined);
    // A peer that has ended as well has nothing to wait for.
    if (peer?.isReadEnded === true) peer.#onPeerGone();
  }

  #onPeerGone(): void {
    this.isWriteEnded = true;
    this.fail(undefined);
  }

  #arrive(bytes: Uint8Array): void {
    if (this.#isGone || this.isReadEnded) return;
    const wasEmpty = this.#inboxBytes === 0;
    this.#inbox.push(bytes);
    this.#inboxBytes += bytes.length;
    if (wasEmpty) this.#later(() => this.events.readable());
  }

  #onEnd(): void {
    this.#later(() => {
      if (this.#isGone || this.isReadEnded) return;
      this.isReadEnded = true;
      this.events.readable();
      this.#travel();
    });
  }
}

export function streamPair(
  seed: number,
  how: Unkindness = UNKIND,
  a: FullAddress = { host: '127.0.0.1', port: 40_000 },
  b: FullAddress = { host: '127.0.0.1', port: 7174 },
): [MemoryStream, MemoryStream] {
  const random = new SeededRandom(seed);
  const pair: [MemoryStream, MemoryStream] = [new MemoryStream(a, b, random, how), new MemoryStream(b, a, random, how)];
  MemoryStream.join(...pair);
  return pair;
}
