import {
  type AdapterClient,
  type Argument,
  type ClientLimits,
  createAsyncEventRing,
  createCmEventRing,
  type Value,
  type Verb,
} from '../../../device/adapter/index.js';
import type { AdapterHost, LocatedMemory } from '../../../providers/soft/index.js';
import { Duty, type Life } from '../../../api/runtime/index.js';
import type { Gid } from '../../../device/ibta/index.js';
import { CompChannelRing, doorbellPageShape } from '../../../device/nic/index.js';
import { nowUs, wallClockNs, yieldProcessor } from '../../system/index.js';
import { deviceClockNs } from '../device-clock.js';
import { closeAtExit } from '../exit-hook.js';
import { locateHere, reachMemory, resolveMemory } from '../program-memory.js';
import type { InlineNic } from './inline-nic.js';
import { sleepUntil, turnAll } from './residents.js';

/** Posts, or polls that found something, after which the adapter has a whole turn nevertheless. */
const BUSY_CALLS_PER_TURN = 16;
/**
 * Turns in a row without anything to do, and how long they have taken, after which the processor is offered to others, the
 * peer perhaps: two programs that poll and share a processor would otherwise answer each other once in a time slice, which
 * is some milliseconds. An answer through memory comes sooner.
 */
const TURNS_PER_YIELD = 8;
const YIELD_US = 10;
/** How long a blocking wait looks again and again before it sleeps. Sleeping and waking costs about as much. */
const SPIN_US = 50;
/** A sleep that nothing ends lasts no longer, so that whatever was overlooked is overlooked for so long only. */
const MAX_SLEEP_US = 1_000_000;

/** A client of an adapter in the caller's own thread, moved on by post and poll: the way of lowest latency. */
export class InlineHost implements AdapterHost {
  readonly kind = 'inline';
  readonly address: string;
  readonly gid: Gid;
  readonly maxPacketBytes: number;
  readonly crc32Source: string;
  readonly doorbells = new ArrayBuffer(doorbellPageShape().bytes);
  readonly asyncEvents = createAsyncEventRing(false);
  readonly cmEvents = createCmEventRing(false);

  readonly #client: AdapterClient;
  readonly #listeners = new Map<() => void, Life>();
  /** The same in a list that is another one each time that it changes: they are told of every packet. */
  #told: readonly (() => void)[] = [];
  readonly #announcement = new Duty(() => {
    const listeners = this.#told;
    for (let i = 0; i < listeners.length; i += 1) listeners[i]();
  });
  readonly #forgetExit: () => void;
  #busyCalls = 0;
  #emptyTurns = 0;
  /** When there was something to do, or the processor was offered to others. */
  #quietSinceUs = 0;
  #open = true;

  /**
   * @param nic the NIC that it shares with others, or has for itself
   * @throws CommandError as `InlineNic.attach`
   */
  constructor(
    private readonly nic: InlineNic,
    readonly limits: ClientLimits = {},
    pid?: number,
  ) {
    const { address, gid, maxPacketBytes, crc32Source } = nic.facts;
    this.address = address;
    this.gid = gid;
    this.maxPacketBytes = maxPacketBytes;
    this.crc32Source = crc32Source;
    const { doorbells, asyncEvents, cmEvents } = this;
    const onEvent = (ring: Int32Array): void => this.#onEvent(ring);
    this.#client = nic.attach({
      doorbells,
      asyncEvents,
      cmEvents,
      resolve: resolveMemory,
      reach: (place) => reachMemory(place, nic.warn),
      onEvent,
      most: limits,
      pid,
    });
    this.#forgetExit = closeAtExit(() => this.close());
  }

  another(pid?: number): AdapterHost {
    return new InlineHost(this.nic, this.limits, pid);
  }

  get failure(): string | undefined {
    return this.nic.isUsable() ? undefined : this.nic.failure;
  }

  execute<V extends Verb>(verb: V, argument: Argument<V>): Value<V> {
    return this.nic.perform(() => this.#client.execute(verb, argument));
  }

  locate(bytes: Uint8Array): LocatedMemory {
    return locateHere(bytes);
  }

  release(): void {
    // The adapter has the very view, and forgets it by itself.
  }

  ring(): void {
    if (!this.nic.isUsable()) return;
    this.#busyCalls += 1;
    const now = nowUs();
    if (this.#busyCalls >= BUSY_CALLS_PER_TURN) this.#takeTurn(now);
    else this.nic.push(now);
  }

  found(): void {
    this.#emptyTurns = 0;
    this.#busyCalls += 1;
    if (this.#busyCalls >= BUSY_CALLS_PER_TURN) this.#takeTurn(nowUs());
  }

  idle(): void {
    const now = nowUs();
    this.#emptyTurns = this.#takeTurn(now) ? 0 : this.#emptyTurns + 1;
    if (this.nic.failure !== undefined) this.nic.requireUsable();
    if (this.#emptyTurns === 0) this.#quietSinceUs = now;
    if (this.#emptyTurns < TURNS_PER_YIELD || now - this.#quietSinceUs < YIELD_US) return;
    this.#emptyTurns = 0;
    yieldProcessor();
    this.#quietSinceUs = nowUs();
  }

  nowUs(): number {
    return nowUs();
  }

  deviceClockNs(): bigint {
    return deviceClockNs(this.nic.facts.clockOriginNs);
  }

  wallClockNs(): bigint {
    return wallClockNs();
  }

  wait(ring: Int32Array, index: number, seen: number, timeoutUs: number): void {
    const begunUs = nowUs();
    for (let now = begunUs; ; now = nowUs()) {
      turnAll(now);
      this.nic.requireUsable();
      if (Atomics.load(ring, index) !== seen) return;
      const spentUs = now - begunUs;
      if (spentUs >= timeoutUs) return;
      if (spentUs >= SPIN_US) {
        sleepUntil(Math.min(begunUs + timeoutUs, nowUs() + MAX_SLEEP_US));
        turnAll(nowUs());
        return;
      }
    }
  }

  listen(listener: () => void): Life {
    const life = this.nic.watch();
    this.#listeners.set(listener, life);
    this.#told = [...this.#listeners.keys()];
    const end = (): void => {
      this.#listeners.delete(listener);
      this.#told = [...this.#listeners.keys()];
      life.end();
    };
    return { ref: () => life.ref(), unref: () => life.unref(), end };
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#forgetExit();
    for (const life of this.#listeners.values()) life.end();
    this.nic.detach(this.#client);
  }

  #takeTurn(now: number): boolean {
    this.#busyCalls = 0;
    return turnAll(now);
  }

  #onEvent(ring: Int32Array): void {
    if (Atomics.compareExchange(ring, CompChannelRing.ASYNC_WAITERS, 1, 0) === 1) this.#announcement.queue();
  }
}
