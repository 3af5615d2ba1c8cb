import {
  type CmDevice,
  cmDeviceOf,
  type ProvidedCq,
  providedContext,
  providedCq,
  startChore,
  startPollAwaited,
  startTimer,
  startTurn,
  unreadCount,
  unreadWrId,
} from '../../../api/provider/index.js';
import { afterCallbacks, runtime } from '../../../api/runtime/index.js';
import { type CompChannel, type Context, invalid, type Pd, VerbsError } from '../../../api/verbs/index.js';
import { BufferPool, namesOf, type SizeClass } from '../memory/buffer-pool.js';
import { RegistrationCache } from '../memory/registration-cache.js';
import { SpareMemory } from '../memory/spare-memory.js';
import { CompletionDispatcher } from './completion-dispatcher.js';
import { BATCH, type Hold, LoopProgress } from './loop-progress.js';
import type { CompletionHandler, Requests, SendHandler } from './requests.js';

const CALL = 'engine';
const ENTRIES = 256;
const POOL_BYTES = 256 * 1024 * 1024;
const REGISTRATION_BYTES = 64 * 1024 * 1024;

/** How an {@link Engine} is made. */
export interface EngineOptions {
  /** In messages of leaks and refusals. Default `engine`. */
  readonly name?: string;
  /** Completions that the queue holds to begin with; it grows as room is asked for. Default 256. */
  readonly entries?: number;
  /** Completions that it may grow to. Default: as many as the device allows. */
  readonly maxEntries?: number;
  /** Bytes of memory that the buffer pool may take. Default 256 MiB. */
  readonly poolBytes?: number;
  /** Bytes of the program's memory that stay registered for the next time though nobody uses them. Default 64 MiB. */
  readonly registrationBytes?: number;
  readonly poolClasses?: readonly SizeClass[];
}

export interface EngineStatistics {
  readonly completions: number;
  /** Those that nobody expected: of queue pairs that had ended, and of requests that were posted without it. */
  readonly unexpected: number;
  /** Requests that are under way, by owner. */
  readonly outstanding: ReadonlyMap<string, number>;
}

const shared = new WeakMap<Context, Engine>();

/**
 * What every protocol above the verbs needs of a device: a protection domain, a completion queue, whose completions it hands to
 * whoever has posted the request, and registered buffers. One for a device and a thread is enough.
 */
export class Engine implements Disposable {
  /** A device's shared one, which is made on demand and ends with the device. */
  static of(context: Context): Engine {
    let engine = shared.get(context);
    if (engine === undefined || engine.isClosed) {
      engine = new Engine(context);
      shared.set(context, engine);
    }
    return engine;
  }

  readonly name: string;
  readonly pd: Pd;
  readonly channel: CompChannel;
  readonly cq: ProvidedCq;
  readonly pool: BufferPool;
  readonly registrations: RegistrationCache;
  /** Of connections that have ended, for their successors. */
  readonly spareMemory = new SpareMemory();

  readonly #maxEntries: number;
  readonly #device: CmDevice;
  readonly #dispatcher: CompletionDispatcher;
  readonly #loop: LoopProgress;
  readonly #afterPass: (() => void)[] = [];
  #isPolling = false;
  #isEndingPass = false;
  #isGathering = false;
  /** Something was done at once since the last pass. */
  #hasActed = false;
  readonly #endTurn = (): void => this.#endPass();
  #isClosed = false;
  #unexpected = 0;

  /** @throws VerbsError as `Context.allocPd`, `createCompChannel` and `createCq` */
  constructor(
    readonly context: Context,
    options: EngineOptions = {},
  ) {
    const { name = 'engine', entries = ENTRIES, maxEntries, poolClasses } = options;
    const { poolBytes = POOL_BYTES, registrationBytes = REGISTRATION_BYTES } = options;
    this.name = name;
    this.#device = cmDeviceOf(context, CALL);
    this.#maxEntries = Math.min(maxEntries ?? Infinity, context.queryDevice().maxCqe);
    this.channel = context.createCompChannel();
    try {
      const cqe = Math.min(entries, this.#maxEntries);
      this.cq = providedCq(context.createCq({ cqe, channel: this.channel, cqContext: this }), CALL);
    } catch (error) {
      this.channel.destroy();
      throw error;
    }
    try {
      this.pd = context.allocPd();
    } catch (error) {
      this.cq.destroy();
      this.channel.destroy();
      throw error;
    }
    this.pool = new BufferPool(this.pd, poolBytes, poolClasses);
    this.registrations = new RegistrationCache(this.pd, registrationBytes);
    const { cq } = this;
    this.#dispatcher = new CompletionDispatcher({
      get entries() {
        return cq.cqe;
      },
      get unread() {
        return cq[unreadCount];
      },
      unreadNumber: (index) => cq[unreadWrId](index),
      discard: (count) => this.#discard(count),
      grow: (needed) => this.#grow(needed),
    });
    this.#loop = new LoopProgress(this);
    this.cq.reqNotify();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Why nothing completes any more: the device was lost or closed. */
  get failure(): VerbsError | undefined {
    return this.#dispatcher.failure;
  }

  get statistics(): EngineStatistics {
    const outstanding = new Map<string, number>();
    for (const { owner, outstanding: count } of this.#dispatcher.accounts)
      if (count > 0) outstanding.set(owner, (outstanding.get(owner) ?? 0) + count);
    return { completions: this.#dispatcher.taken, unexpected: this.#unexpected, outstanding };
  }

  /**
   * Opens an account for the requests of one queue pair, or of one shared receive queue, which is to complete into {@link cq} and
   * to have `sqSigAll`.
   *
   * @param limit how many may be under way, of all its queues together; the completion queue grows as needed
   * @param owner who is named in messages of leaks: a few words, the same for all of a kind
   * @throws VerbsError ENOMEM beyond `maxEntries`; EIO when the device was lost
   */
  requests(handler: CompletionHandler, limit: number, owner: string): Requests {
    return this.#dispatcher.open(handler, limit, owner);
  }

  /**
   * As {@link requests}, for the send queue of one queue pair alone, without `sqSigAll`: requests may be unsignaled, and are done once a later one has completed.
   * At least the last that its queue has room for is to be signaled.
   *
   * @throws VerbsError as {@link requests}
   */
  sends(handler: SendHandler, limit: number, owner: string): Requests {
    return this.#dispatcher.openSends(handler, limit, owner);
  }

  /**
   * Hands completions to those who expect them, at most `limit`, without waiting.
   *
   * @param isAwaited whether the caller then awaits an event; other callers make virtual time pass by calling it again and again
   * @returns how many there were; 0 when it is called by a handler
   */
  progress(limit = BATCH, isAwaited = false): number {
    if (this.#isPolling) return 0;
    this.#hasActed = false;
    if (!this.#isInPass) this.#endPass();
    if (this.#isLost() || !this.#startPoll(isAwaited)) return 0;
    const { cq } = this;
    const dispatcher = this.#dispatcher;
    this.#isPolling = true;
    let count = 0;
    let isEmpty = false;
    try {
      do {
        count += 1;
        const account = dispatcher.settle(cq.wrIdNumber);
        if (account === undefined) this.#unexpected += 1;
        else account.handler.onCompletion(dispatcher.cookie, cq);
        if (count === limit || this.#isLost()) break;
        isEmpty = !cq.nextPoll();
      } while (!isEmpty);
    } finally {
      this.#isPolling = false;
      // The queue of a device that is closed may be another's by now.
      if (!this.#isLost()) cq.endPoll();
      this.#endPass();
    }
    dispatcher.tidy(isEmpty);
    return count;
  }

  /**
   * Calls `action` once all handlers of the {@link progress} that is going on have been called. Where none is, the first is called at once, and those that are
   * asked for before the next pass when the program gives way, after the listeners that wait for their turns. What is to be posted can so go in one list, and ring the doorbell once, while nothing that is sent
   * alone waits. What such an action asks for in turn comes after those that were asked for before.
   */
  afterPass(action: () => void): void {
    if (this.#isInPass) {
      this.#afterPass.push(action);
      return;
    }
    if (this.#hasActed) {
      if (this.#afterPass.push(action) === 1) afterCallbacks(this.#endTurn);
      return;
    }
    this.#hasActed = true;
    action();
  }

  /** Calls `action` as handlers of a pass are called: what it has to post goes in one list at its end ({@link afterPass}), or at that of the pass that is going on. */
  inPass<T>(action: () => T): T {
    if (this.#isInPass) return action();
    this.#isGathering = true;
    try {
      return action();
    } finally {
      this.#isGathering = false;
      this.#endPass();
    }
  }

  /** Has the engine progress from the event loop, and keeps the process alive, until it is released. */
  hold(): Hold {
    return this.#loop.hold();
  }

  /** µs on the device's clock; in a simulation those of virtual time. */
  nowUs(): number {
    return this.#device.nowUs();
  }

  /**
   * Calls `action` in so many ms of the device's clock, and keeps the process alive until then. All that has completed by then is handed over
   * first: a program that has blocked the event loop finds its timers due before it reads what its peers have sent, and must not take them for silent.
   *
   * @returns cancels it
   */
  timer(delayMs: number, action: () => void): () => void {
    return this.#afterReading(action, (due) => {
      return providedContext(this.context, CALL)[startTimer](delayMs, due) ?? runtime().timer(delayMs, due);
    });
  }

  /** @internal Calls `action` in the next turn of the event loop; no virtual time passes before. */
  nextTurn(action: () => void): void {
    providedContext(this.context, CALL)[startTurn](action);
  }

  /** As {@link timer}, for what nobody waits for: it does not keep the process alive, and in a simulation no time passes because of it alone. */
  chore(delayMs: number, action: () => void): () => void {
    return this.#afterReading(action, (due) => {
      return providedContext(this.context, CALL)[startChore](delayMs, due) ?? runtime().chore(delayMs, due);
    });
  }

  /**
   * Hands over all that has completed, while `isWanted`. At most as much as the queue holds: one that fills as fast as it is read has no
   * end, and others of the event loop have waited long enough.
   */
  readAll(isWanted: () => boolean): void {
    for (let left = this.cq.cqe; left > 0 && isWanted(); left -= BATCH) if (this.progress(BATCH, true) < BATCH) return;
  }

  /** Nothing completes any more: those who expect something are told. */
  fail(failure: VerbsError): void {
    this.#dispatcher.fail(failure);
  }

  /**
   * Ends it.
   *
   * @throws VerbsError EBUSY while requests are under way or buffers are lent, naming whose; EINVAL when it was ended before
   */
  close(): void {
    const { outstanding } = this.statistics;
    const debts = [...outstanding].map(([owner, count]) => `${count} requests of ${owner}`);
    if (this.pool.leased > 0) debts.push(`buffers of ${namesOf(this.pool.leases())}`);
    if (this.registrations.used > 0) debts.push(`${this.registrations.used} registrations of memory`);
    if (debts.length > 0) {
      const message = `${this.name} still has ${debts.join(', and ')}`;
      throw new VerbsError(CALL, { errno: 'EBUSY', message, advice: 'End what uses it first' });
    }
    this.pool.close();
    this.registrations.clear();
    this.cq.destroy();
    this.channel.destroy();
    this.pd.dealloc();
    this.#isClosed = true;
    this.fail(new VerbsError(CALL, invalid(`${this.name} was ended before`)));
  }

  /** {@link close}, unless it was ended. */
  [Symbol.dispose](): void {
    if (!this.#isClosed) this.close();
  }

  #afterReading(action: () => void, start: (due: () => void) => () => void): () => void {
    let isPending = true;
    const stop = start(() => {
      try {
        // A program that polls reads at times of its choice.
        if (this.#loop.holds > 0) this.readAll(() => isPending);
      } finally {
        if (isPending) {
          isPending = false;
          action();
        }
      }
    });
    return () => {
      isPending = false;
      stop();
    };
  }

  get #isInPass(): boolean {
    return this.#isPolling || this.#isEndingPass || this.#isGathering;
  }

  #endPass(): void {
    const actions = this.#afterPass;
    // Those of an action that has the engine progress are called by who calls that action.
    if (actions.length === 0 || this.#isEndingPass) return;
    this.#isEndingPass = true;
    let begun = 0;
    try {
      while (begun < actions.length) {
        begun += 1;
        actions[begun - 1]();
      }
    } finally {
      this.#isEndingPass = false;
      if (begun < actions.length) {
        // One has thrown: what others have to post goes all the same.
        actions.splice(0, begun);
        this.#endPass();
      }
      // To set the length is a call into V8, and has the next pass make room anew.
      while (actions.length > 0) actions.pop();
    }
  }

  #isLost(): boolean {
    return this.failure !== undefined;
  }

  #startPoll(isAwaited: boolean): boolean {
    try {
      if (isAwaited ? this.cq[startPollAwaited]() : this.cq.startPoll()) return true;
    } catch (error) {
      // EINVAL: it was closed. A simulation says ETIMEDOUT to a caller that polls without success.
      if (!(error instanceof VerbsError) || !(error.errno === 'EIO' || error.errno === 'EINVAL')) throw error;
      this.fail(error);
      return false;
    }
    this.#dispatcher.tidy(true);
    return false;
  }

  /** Drops completions of requests whose queue pairs have ended. They are there, so no time passes in a simulation. */
  #discard(count: number): number {
    if (this.#isPolling || this.#isLost() || !this.#startPoll(true)) return 0;
    for (let taken = 1; taken < count; taken += 1) this.cq.nextPoll();
    this.cq.endPoll();
    this.#unexpected += count;
    return count;
  }

  #grow(needed: number): void {
    if (needed > this.#maxEntries) {
      const message = `${this.name} has no room for ${needed} requests under way at a time, but for ${this.#maxEntries}`;
      throw new VerbsError(CALL, { errno: 'ENOMEM', message, advice: 'Make fewer connections, or smaller queues' });
    }
    this.cq.resize(Math.min(this.#maxEntries, Math.max(needed, 2 * this.cq.cqe)));
  }
}
