import { partOf, type PeerProblem, putInto } from '../protocol/index.js';
import type { KeptBytes } from '../worker/kept-bytes.js';

/** What a part of a stream costs beside its bytes, so that there is a limit to small ones as well. */
const PART_COST = 64;

/** Who wants bytes of a stream. */
export interface StreamWanted {
  readonly buffer: Uint8Array;
  /** Bytes of it: whole elements. */
  readonly wantedBytes: number;
  /** Bytes of an element: it gets whole ones only. */
  readonly elementBytes: number;
  /** Whether it wants as many as the buffer has room for, and no fewer. */
  readonly isAll: boolean;
  filledBytes: number;
  onFilled(length: number): void;
}

/** Bytes that come from one peer in their order, and those who want them in theirs. */
export class StreamQueue {
  readonly #parts: Uint8Array[] = [];
  readonly #wanted: StreamWanted[] = [];
  #bytes = 0;
  #cost = 0;
  #hasEnded = false;

  constructor(private readonly kept: KeptBytes) {}

  /** Whether somebody wants what has not come. */
  get isWanted(): boolean {
    return this.#wanted.length > 0;
  }

  /** Whether there are bytes that nobody wants. */
  get isReady(): boolean {
    return this.#bytes > 0 && this.#wanted.length === 0;
  }

  /** Bytes have come. @param payload true until this returns */
  push(payload: Uint8Array): PeerProblem | undefined {
    if (payload.length === 0 || this.#hasEnded) return undefined;
    const cost = PART_COST + payload.length;
    const problem = this.kept.take(cost);
    if (problem !== undefined) return problem;
    this.#cost += cost;
    this.#parts.push(payload);
    this.#bytes += payload.length;
    this.#serve();
    // What is left of it lay in a buffer of the transport's.
    const last = this.#parts.at(-1);
    if (last?.buffer === payload.buffer) this.#parts[this.#parts.length - 1] = last.slice();
    return undefined;
  }

  want(wanted: StreamWanted): void {
    this.#wanted.push(wanted);
    this.#serve();
  }

  /** Somebody wants them no more: what it has got is for the next. */
  leave(wanted: StreamWanted): void {
    const at = this.#wanted.indexOf(wanted);
    if (at < 0) return;
    this.#wanted.splice(at, 1);
    this.#giveBack(wanted);
    this.#serve();
  }

  /** Nothing comes any more. @returns those who want what will not come; what has come is there for others */
  end(): StreamWanted[] {
    this.#hasEnded = true;
    const left = this.#wanted.splice(0);
    for (const wanted of left) this.#giveBack(wanted);
    this.kept.give(this.#cost);
    this.#cost = 0;
    return left;
  }

  #serve(): void {
    while (this.#wanted.length > 0) {
      const [first] = this.#wanted;
      const { wantedBytes, elementBytes, isAll } = first;
      const most = Math.min(this.#bytes, wantedBytes - first.filledBytes);
      const taken = isAll ? most : most - (most % elementBytes);
      this.#take(first, taken);
      const isDone = isAll ? first.filledBytes === wantedBytes : taken > 0;
      if (!isDone) return;
      this.#wanted.shift();
      first.onFilled(first.filledBytes);
    }
  }

  #take(into: StreamWanted, bytes: number): void {
    const end = into.filledBytes + bytes;
    while (into.filledBytes < end) {
      const [first] = this.#parts;
      const part = first.subarray(0, end - into.filledBytes);
      putInto(into.buffer, part, into.filledBytes);
      into.filledBytes += part.length;
      if (part.length === first.length) {
        this.#parts.shift();
        this.#uncount(PART_COST);
      } else this.#parts[0] = first.subarray(part.length);
    }
    this.#bytes -= bytes;
    this.#uncount(bytes);
  }

  #giveBack({ buffer, filledBytes }: StreamWanted): void {
    if (filledBytes === 0) return;
    this.#parts.unshift(partOf(buffer, 0, filledBytes).slice());
    this.#bytes += filledBytes;
    // It was there before, so that there is room for it, or nobody counts any more.
    const cost = PART_COST + filledBytes;
    if (!this.#hasEnded && this.kept.take(cost) === undefined) this.#cost += cost;
  }

  #uncount(bytes: number): void {
    const given = Math.min(bytes, this.#cost);
    this.#cost -= given;
    this.kept.give(given);
  }
}
