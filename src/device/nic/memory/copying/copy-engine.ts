import { assert } from '../../../ibta/index.js';
import type { CopyUnderWay, Permission, RegionMemory } from '../region-memory.js';
import type { Copy, CopyProgress, ForeignMemory } from './foreign-memory.js';

/** What a buffer holds at least and at most: more than any packet has. */
const SMALLEST_SHIFT = 12;
const LARGEST_SHIFT = 17;
export const BUFFER_BYTES = 2 ** LARGEST_SHIFT;
/** Buffers of each size that are kept for the next who needs one. */
const KEPT = 16;
/** Bytes of packets that wait for memory, of all queue pairs together. */
const MAX_PARKED_BYTES = 16 * 2 ** 20;

/** Who has copies carried out, one at a time. */
interface CopyOwner {
  /** The copy under way has ended after so many bytes. */
  onCopied(copiedBytes: number): void;
}

/** Who keeps bytes from the beginning of a turn to its end at most. */
interface Staging {
  onTurnEnd(): void;
}

/** One copy that finishes later. */
export class PendingCopy implements Copy, CopyUnderWay {
  copiedBytes = 0;
  #region: RegionMemory | undefined;
  #memory: ForeignMemory | undefined;

  constructor(
    private readonly engine: CopyEngine,
    private readonly owner: CopyOwner,
    readonly permission: Permission | undefined,
  ) {}

  /** The memory has said that it will finish later. */
  started(region: RegionMemory, memory: ForeignMemory): void {
    this.#region = region;
    this.#memory = memory;
    region.copies.add(this);
    this.engine.began(memory.progress);
  }

  finish(copiedBytes: number): void {
    assert(this.#memory !== undefined, 'a copy finishes that is not under way');
    this.#end();
    this.copiedBytes = copiedBytes;
    this.engine.finish(this);
  }

  /** Its owner does not want it any more, and is not told of it. */
  abandon(): void {
    this.#memory?.cancel(this);
    this.#end();
    this.engine.forget(this);
  }

  /** What it was to touch may not be touched any more: as if the memory had failed there. */
  fail(): void {
    this.#memory?.cancel(this);
    this.finish(0);
  }

  deliver(): void {
    this.owner.onCopied(this.copiedBytes);
  }

  #end(): void {
    this.engine.ended(this.#memory?.progress);
    this.#region?.copies.delete(this);
    this.#region = undefined;
    this.#memory = undefined;
  }
}

/** What the copies of a NIC share: buffers, and which of them are to be looked at when. */
export class CopyEngine {
  /** Copies that have ended, and whose owners do not know yet. */
  finished: PendingCopy[] = [];
  parkedBytes = 0;
  /** Called when a copy has ended: there is something to take note of. */
  onFinished: (() => void) | undefined;
  readonly #staging = new Set<Staging>();
  /** Who carries out copies, and how many. */
  readonly #progress = new Map<CopyProgress, number>();
  /** Those of them who were asked for copies and not told to begin. */
  readonly #begun = new Set<CopyProgress>();
  #polls = false;
  readonly #spare: Uint8Array[][] = Array.from({ length: LARGEST_SHIFT + 1 }, () => []);

  /** Whether the NIC has to take note of something in its next turn. */
  get busy(): boolean {
    return this.finished.length > 0 || this.#staging.size > 0 || this.#begun.size > 0 || this.isPolling;
  }

  /** Whether copies are under way of whose ends nobody tells: somebody has to look again and again. */
  get isPolling(): boolean {
    // Asked in every turn.
    if (this.#progress.size === 0) return false;
    for (const progress of this.#progress.keys()) if (progress.needsPolling) return true;
    return false;
  }

  get mayPark(): boolean {
    return this.parkedBytes < MAX_PARKED_BYTES;
  }

  /** A buffer for so many bytes. */
  take(lengthBytes: number): Uint8Array {
    assert(lengthBytes <= BUFFER_BYTES, 'a copy is longer than any buffer');
    const shift = Math.max(SMALLEST_SHIFT, 32 - Math.clz32(lengthBytes - 1));
    return this.#spare[shift].pop() ?? new Uint8Array(2 ** shift);
  }

  give(buffer: Uint8Array): void {
    const spare = this.#spare[31 - Math.clz32(buffer.length)];
    if (spare.length < KEPT) spare.push(buffer);
  }

  /** Has somebody told of the end of this turn. */
  stage(staging: Staging): void {
    this.#staging.add(staging);
  }

  unstage(staging: Staging): void {
    this.#staging.delete(staging);
  }

  /** A copy is under way. */
  began(progress: CopyProgress | undefined): void {
    if (progress === undefined) return;
    this.#progress.set(progress, (this.#progress.get(progress) ?? 0) + 1);
    this.#begun.add(progress);
  }

  /** One is no more. */
  ended(progress: CopyProgress | undefined): void {
    if (progress === undefined) return;
    const left = (this.#progress.get(progress) ?? 0) - 1;
    assert(left >= 0, 'a copy ends that is not under way');
    if (left > 0) this.#progress.set(progress, left);
    else this.#progress.delete(progress);
  }

  finish(copy: PendingCopy): void {
    this.finished.push(copy);
    // Whoever polls takes note of it at once.
    if (!this.#polls) this.onFinished?.();
  }

  forget(copy: PendingCopy): void {
    if (this.finished.length > 0) this.finished = this.finished.filter((other) => other !== copy);
  }

  /** Tells the owners of copies that have ended, and has written what has arrived in this turn. */
  takeNotice(): void {
    this.#poll();
    for (let copy = this.finished.shift(); copy !== undefined; copy = this.finished.shift()) copy.deliver();
    this.endTurn();
  }

  /** Has written what was gathered, and forgotten what was read ahead: a byte is never older than the turn. Then copies begin. */
  endTurn(): void {
    for (const staging of this.#staging) {
      this.#staging.delete(staging);
      staging.onTurnEnd();
    }
    for (const progress of this.#begun) {
      this.#begun.delete(progress);
      progress.submit();
    }
  }

  #poll(): void {
    if (this.#progress.size === 0) return;
    this.#polls = true;
    for (const progress of this.#progress.keys()) if (progress.needsPolling) progress.poll();
    this.#polls = false;
  }
}
