import { setImmediate } from 'node:timers/promises';
import { type Cq, WcStatus } from '../../../entry/index.js';
import { attempt, ToolError } from '../../kit/errors.js';
import { Backoff } from '../running/backoff.js';
import type { Keys } from './keys.js';
import type { QueuePairs } from '../queue-pairs/queue-pairs.js';
import { type Exchange, PeerLeft } from './exchange.js';
import { FailedRequest, type Run } from '../running/run.js';

/** Silence after which the user is told what it may mean: within a run, and between runs, where sides may be slow. */
const SILENCE_MS = 5000;
const MEETING_SILENCE_MS = 10_000;
/** Silence after which the rest is lost, when the peer goes on without it. */
const LOST_MS = 500;
/** The same when it is unknown what the peer does. */
const UNRELIABLE_LOST_MS = 10_000;
/** How long the news that the peer leaves may take. */
const LEAVING_MS = 500;
const LEFT = 'The peer closed the connection.';
const OTHER_COUNT =
  'The peer has another number of queue pairs than this side: give both the same -q, and -b to both or none.';
/** How often the event loop gets a turn, so that Ctrl-C is noticed, and how often that is checked. */
const TURN_MS = 200;
const STEPS_PER_CLOCK = 32;
/** An inline NIC is looked at for so long before the event loop gets a turn. */
const SLICE_MS = 5;

/** The other side, as this one deals with it: messages beside the test, and runs of messages within. */
export class Partner {
  readonly #exchange: Exchange;
  readonly #queuePairs: QueuePairs;
  readonly #backoff: Backoff;
  readonly #reliable: boolean;
  /** Moves an inline NIC on without taking anybody's completions. */
  readonly #pulse: Cq | undefined;
  /** The peer's keys, once they are known. */
  #peer: readonly Keys[] = [];
  #toldSilence = false;

  /** @param reliable whether whatever is sent arrives, if late */
  constructor(exchange: Exchange, queuePairs: QueuePairs, reliable: boolean) {
    const { context } = queuePairs;
    this.#exchange = exchange;
    this.#queuePairs = queuePairs;
    this.#backoff = new Backoff(context, queuePairs.channel, [...new Set([queuePairs.sendCq, queuePairs.recvCq])]);
    this.#reliable = reliable;
    this.#pulse =
      context.host === 'inline' ? attempt("Couldn't create CQ", () => context.createCq({ cqe: 1 })) : undefined;
  }

  /**
   * Waits until both sides have come so far.
   *
   * @param long whether the peer has a whole run to do before, so that silence means nothing
   * @throws PeerLeft
   */
  async handshake(long = false): Promise<void> {
    const timer = long ? undefined : setTimeout(() => this.#tellSilence(MEETING_SILENCE_MS), MEETING_SILENCE_MS);
    try {
      const { qpn } = await this.meanwhile(this.#exchange.swapKeys(this.#queuePairs.local[0]));
      // A handshake is under the name of the first.
      if (this.#peer.length > 0 && qpn !== this.#peer[0].qpn) throw new ToolError(OTHER_COUNT);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Tells the keys of all queue pairs, and learns the peer's.
   *
   * @throws PeerLeft; ToolError when the peer has not as many
   */
  async swapKeys(): Promise<Keys[]> {
    const keys: Keys[] = [];
    for (const own of this.#queuePairs.local) {
      const theirs = await this.meanwhile(this.#exchange.swapKeys(own));
      const known = this.#peer.at(keys.length);
      // A peer with fewer is at its next handshake already, and one with more tells of another.
      const other = known === undefined ? keys.some(({ qpn }) => qpn === theirs.qpn) : known.qpn !== theirs.qpn;
      if (other) throw new ToolError(OTHER_COUNT);
      keys.push(theirs);
    }
    this.#peer = keys;
    return keys;
  }

  /** Serves the peer while something else is awaited: a NIC in a thread needs no help. */
  async meanwhile<Result>(awaited: Promise<Result>): Promise<Result> {
    const pulse = this.#pulse;
    if (pulse === undefined) return awaited;
    const state = { settled: false };
    const settle = (): void => void (state.settled = true);
    awaited.then(settle, settle);
    while (!state.settled) {
      const end = performance.now() + SLICE_MS;
      do pulse.startPoll();
      while (performance.now() < end);
      await setImmediate();
    }
    return awaited;
  }

  /** Has a run go from its beginning to its end. @throws PeerLeft; FailedRequest */
  async carryOut(run: Run): Promise<void> {
    try {
      await this.#goThrough(run);
    } catch (error) {
      // A peer that parts by rdma_cm takes the queue pairs along.
      const flushed = error instanceof FailedRequest && error.status === WcStatus.WR_FLUSH_ERR;
      if (flushed && (await this.#isLeaving())) throw new PeerLeft(LEFT);
      throw error;
    }
  }

  async #goThrough(run: Run): Promise<void> {
    run.begin?.();
    while (!this.#advance(run)) {
      const { silentMs } = this.#backoff;
      if (silentMs > 0) {
        // A peer that has left may have done all its part before; nothing more came since.
        if (this.#exchange.hasPeerLeft && run.part?.() !== true) throw new PeerLeft(LEFT);
        if (silentMs > this.#lostMs) run.giveUp?.();
        if (silentMs > SILENCE_MS) this.#tellSilence();
      }
      await setImmediate();
    }
  }

  /** Whether the peer is about to be known to have left. */
  async #isLeaving(): Promise<boolean> {
    const end = performance.now() + LEAVING_MS;
    while (!this.#exchange.hasPeerLeft && performance.now() < end) await setImmediate();
    return this.#exchange.hasPeerLeft;
  }

  /** Silence after which what has not come is lost. */
  get #lostMs(): number {
    if (this.#exchange.peerWaits) return LOST_MS;
    return this.#reliable ? Infinity : UNRELIABLE_LOST_MS;
  }

  /** @returns whether the run is over; if not, the event loop should have a turn */
  #advance(run: Run): boolean {
    const backoff = this.#backoff;
    const dueMs = performance.now() + TURN_MS;
    for (let steps = 1; !run.over; steps += 1) {
      if (run.step()) backoff.busy();
      else if (backoff.pause()) return false;
      if (steps % STEPS_PER_CLOCK === 0 && performance.now() > dueMs) return false;
    }
    return true;
  }

  #tellSilence(silenceMs = SILENCE_MS): void {
    if (this.#toldSilence) return;
    this.#toldSilence = true;
    const meaning = this.#reliable
      ? 'if it is gone, or was given other options than this side, end this side by Ctrl-C'
      : 'a packet may be lost, which nobody repeats here, or the peer may be gone: end this side by Ctrl-C';
    process.stderr.write(`Nothing has come from the peer for ${silenceMs / 1000} s; ${meaning}.\n`);
  }
}
