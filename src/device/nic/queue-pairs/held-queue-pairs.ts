import { assert } from '../../ibta/index.js';
import type { Scheduled } from './turns.js';

/** Knows how much room a way has (`PacketSink.roomOf`). */
interface Ways {
  roomOf(way: number): number;
}

/** What a queue pair may send before the next has its turn. */
const SHARE_BYTES = 128 * 1024;

/**
 * Queue pairs that wait for room on a full way, those of each way in the order in which they came. New room is
 * shared among them in turns; one that has had a turn and wants more goes to the end, as do newcomers.
 */
export class HeldQueuePairs {
  count = 0;
  readonly #waiting = new Map<number, Scheduled[]>();

  constructor(private readonly ways: Ways) {}

  /** Whether a way that some wait for has room. */
  get hasRoom(): boolean {
    for (const way of this.#waiting.keys()) if (this.ways.roomOf(way) > 0) return true;
    return false;
  }

  /** Lets a queue pair wait for a way, behind all others. */
  add(qp: Scheduled, way: number): void {
    const waiting = this.#waiting.get(way);
    if (waiting === undefined) this.#waiting.set(way, [qp]);
    else waiting.push(qp);
    qp.way = way;
    qp.held = true;
    this.count += 1;
  }

  /** Whether a queue pair whose turn it would be has to wait behind others. */
  isBehind(qp: Scheduled): boolean {
    const behind = !qp.mayPass && this.#waiting.has(qp.way);
    qp.mayPass = false;
    return behind;
  }

  release(go: (qp: Scheduled) => void): void {
    for (const [way, waiting] of this.#waiting) {
      const room = this.ways.roomOf(way);
      if (room === 0) continue;
      const released = waiting.splice(0, Math.max(1, Math.floor(room / SHARE_BYTES)));
      if (waiting.length === 0) this.#waiting.delete(way);
      this.count -= released.length;
      for (const qp of released) {
        qp.held = false;
        qp.mayPass = true;
        go(qp);
      }
    }
  }

  /** Lets one go, wherever it stands. */
  remove(qp: Scheduled): void {
    const waiting = this.#waiting.get(qp.way);
    const at = waiting?.indexOf(qp) ?? -1;
    assert(waiting !== undefined && at >= 0, 'a queue pair is held that waits nowhere');
    waiting.splice(at, 1);
    if (waiting.length === 0) this.#waiting.delete(qp.way);
    qp.held = false;
    this.count -= 1;
  }
}
