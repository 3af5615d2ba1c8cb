import {
  type Adapter,
  type AdapterChores,
  type AdapterHost,
  type Argument,
  createAsyncEventRing,
  createCmEventRing,
  type LocatedMemory,
  type Value,
  type Verb,
} from '../../api/soft/index.js';
import { EventType, type Gid } from '../../device/ibta/index.js';
import type { PolledLink } from '../../device/link/index.js';
import { CommandError, CompChannelRing, doorbellPageShape } from '../../device/nic/index.js';
import { nowUs, PollSet, wallClockNs, yieldProcessor } from '../system/index.js';
import { deviceClockNs } from './device-clock.js';
import { closeAtExit } from './exit-hook.js';
import { LinkWatch } from './link-watch.js';
import { type AdapterSpec, openNativeAdapter } from './native-adapter.js';
import { locateHere } from './program-memory.js';
import { requireRoom } from './spare-room.js';

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
/** As above, for the event loop. */
const MAX_ALARM_MS = 1000;
/** Turns for one event of the event loop, which others want to use as well. */
const TURNS_PER_EVENT = 16;

/**
 * Adapters of this thread. Whoever has a moment moves all of them on: two devices in one program that talk to each
 * other would otherwise wait for each other.
 */
const residents: InlineHost[] = [];
let residentFds: PollSet | undefined;
let residentFdLists: readonly (readonly number[])[] = [];

/** Has all adapters of this thread take a turn. @returns whether there was anything to do */
export function turnAll(now: number): boolean {
  let busy = false;
  for (let i = 0; i < residents.length; i += 1) if (residents[i].turn(now)) busy = true;
  return busy;
}

function settle(joining: boolean, host: InlineHost): void {
  if (joining) residents.push(host);
  else if (residents.includes(host)) residents.splice(residents.indexOf(host), 1);
  residentFds = undefined;
}

/** An adapter in the caller's own thread, moved on by post and poll: the way of lowest latency. */
export class InlineHost implements AdapterHost {
  readonly kind = 'inline';
  readonly address: string;
  readonly gid: Gid;
  readonly maxPacketBytes: number;
  readonly doorbells = new ArrayBuffer(doorbellPageShape().bytes);
  readonly asyncEvents = createAsyncEventRing(false);
  readonly cmEvents = createCmEventRing(false);

  /** To be called before a sleep. */
  readonly pause: () => void;

  readonly #adapter: Adapter;
  readonly #clockOriginNs: bigint;
  readonly #link: PolledLink;
  readonly #watch: LinkWatch;
  readonly #listeners = new Set<() => void>();
  readonly #forgetExit: () => void;
  #failure: string | undefined;
  #busyCalls = 0;
  #emptyTurns = 0;
  /** When there was something to do, or the processor was offered to others. */
  #quietSinceUs = 0;
  #alarm: NodeJS.Timeout | undefined;
  #alarmUs = Infinity;
  #choreTimer: NodeJS.Timeout | undefined;
  #open = true;

  /** @throws CommandError as `openNativeAdapter` */
  constructor(spec: AdapterSpec, warn: (text: string) => void) {
    requireRoom();
    const onEvent = (ring: Int32Array): void => this.#onEvent(ring);
    const { adapter, facts, link, pause } = openNativeAdapter(spec, this, { onEvent, warn });
    this.address = facts.address;
    this.gid = facts.gid;
    this.maxPacketBytes = facts.maxPacketBytes;
    this.#clockOriginNs = facts.clockOriginNs;
    this.#adapter = adapter;
    this.#link = link;
    this.pause = pause;
    this.#watch = new LinkWatch(link, () => this.#onReadable());
    this.#forgetExit = closeAtExit(() => this.close());
    settle(true, this);
    const { chores } = adapter;
    if (chores === undefined) return;
    chores.onRun = () => this.#scheduleChores(chores);
    this.#scheduleChores(chores);
  }

  /** One of them is readable when packets have arrived. The same array for as long as they are the same. */
  get pollFds(): readonly number[] {
    return this.#link.pollFds;
  }

  get failure(): string | undefined {
    return this.#isUsable() ? undefined : this.#failure;
  }

  execute<V extends Verb>(verb: V, argument: Argument<V>): Value<V> {
    this.#requireUsable();
    this.#adapter.nic.advanceTo(nowUs());
    try {
      return this.#adapter.execute(verb, argument);
    } finally {
      // A queue pair that comes back from SQD, or goes to ERR, may have something to send or to tell.
      if (this.#isUsable()) this.#adapter.push(nowUs());
      if (this.#listeners.size > 0) this.#setAlarm();
      // Joining a group, and the like, opens or closes sockets.
      this.#watch.follow();
    }
  }

  locate(bytes: Uint8Array): LocatedMemory {
    return locateHere(bytes);
  }

  release(): void {
    // The adapter has the very view, and forgets it by itself.
  }

  ring(): void {
    if (!this.#isUsable()) return;
    this.#busyCalls += 1;
    const now = nowUs();
    if (this.#busyCalls >= BUSY_CALLS_PER_TURN) this.#takeTurn(now);
    else this.#adapter.push(now);
    if (this.#listeners.size > 0) this.#setAlarm();
  }

  found(): void {
    this.#emptyTurns = 0;
    this.#busyCalls += 1;
    if (this.#busyCalls >= BUSY_CALLS_PER_TURN) this.#takeTurn(nowUs());
  }

  idle(): void {
    const now = nowUs();
    this.#emptyTurns = this.#takeTurn(now) ? 0 : this.#emptyTurns + 1;
    if (this.#failure !== undefined) this.#requireUsable();
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
    return deviceClockNs(this.#clockOriginNs);
  }

  wallClockNs(): bigint {
    return wallClockNs();
  }

  /** One turn of the adapter. @returns whether there was anything to do */
  turn(now = nowUs()): boolean {
    if (!this.#isUsable()) return false;
    const busy = this.#adapter.turn(now);
    if (this.#listeners.size > 0) this.#setAlarm();
    return busy;
  }

  wait(ring: Int32Array, index: number, seen: number, timeoutUs: number): void {
    const begunUs = nowUs();
    for (let now = begunUs; ; now = nowUs()) {
      turnAll(now);
      this.#requireUsable();
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

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#watch.arm();
    this.#setAlarm();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#watch.disarm();
      this.#clearAlarm();
    };
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    settle(false, this);
    this.#forgetExit();
    this.#watch.close();
    this.#clearAlarm();
    clearTimeout(this.#choreTimer);
    if (!this.#isUsable()) {
      this.#adapter.abandon();
      return;
    }
    this.#adapter.push(nowUs());
    this.#adapter.close();
  }

  /** Has whatever arrives make one of {@link pollFds} readable. @returns false when something is there already */
  fallAsleep(): boolean {
    return this.#link.fallAsleep();
  }

  wakeUp(): void {
    this.#link.wakeUp();
  }

  /** When the adapter wants a turn though nothing happens. */
  nextTurnUs(): number {
    return this.#adapter.nextTurnUs();
  }

  /** Chores also want doing when the program leaves its NIC alone, but are no reason for a process to live on. */
  #scheduleChores(chores: AdapterChores): void {
    clearTimeout(this.#choreTimer);
    if (!this.#open) return;
    const delayMs = Math.max(1, (chores.nextUs() - nowUs()) / 1000);
    this.#choreTimer = setTimeout(() => this.#doChores(chores), Math.min(delayMs, MAX_ALARM_MS)).unref();
  }

  #doChores(chores: AdapterChores): void {
    if (this.#isUsable()) chores.run(nowUs());
  }

  /**
   * An error of ours, or an interruption of the program (`vm` with a timeout, Ctrl-C where it is read line by line), may have ended
   * a call in the midst of the NIC's work. Nobody knows then what is half done, so nothing more is.
   */
  #isUsable(): boolean {
    if (this.#failure !== undefined) return false;
    if (!this.#adapter.isBroken) return true;
    this.#failure =
      "the NIC was interrupted in the midst of its work, and can do no more; one whose host is 'thread' cannot be";
    settle(false, this);
    this.#adapter.asyncEvent({ type: EventType.DEVICE_FATAL });
    for (const ring of this.#adapter.eventRings()) this.#onEvent(ring);
    return false;
  }

  /** @throws CommandError EIO when nothing will come any more */
  #requireUsable(): void {
    if (!this.#isUsable()) throw new CommandError('EIO', this.#failure ?? '');
  }

  #takeTurn(now: number): boolean {
    this.#busyCalls = 0;
    return turnAll(now);
  }

  #onEvent(ring: Int32Array): void {
    if (Atomics.compareExchange(ring, CompChannelRing.ASYNC_WAITERS, 1, 0) !== 1) return;
    queueMicrotask(() => {
      for (const listener of [...this.#listeners]) listener();
    });
  }

  #onReadable(): void {
    for (let turns = 0; turns < TURNS_PER_EVENT && this.turn(); turns += 1);
    if (this.#listeners.size > 0) this.#watch.arm();
  }

  #setAlarm(): void {
    const dueUs = this.#adapter.nextWakeupUs();
    // One that rings too early sets itself anew, which is cheaper than to move it at every turn.
    if (dueUs >= this.#alarmUs) return;
    this.#clearAlarm();
    this.#alarmUs = dueUs;
    // Not unref'ed: what is awaited may come of what this timer makes happen.
    this.#alarm = setTimeout(
      () => {
        this.#alarmUs = Infinity;
        this.turn();
      },
      Math.min(Math.max(0, (dueUs - nowUs()) / 1000), MAX_ALARM_MS),
    );
  }

  #clearAlarm(): void {
    clearTimeout(this.#alarm);
    this.#alarmUs = Infinity;
  }
}

/** Sleeps until a packet arrives, an adapter of this thread wants a turn, or that time has come. */
function sleepUntil(deadlineUs: number): void {
  sleepAll(deadlineUs, (timeoutUs) => residentPoll().wait(timeoutUs));
}

/**
 * Has all adapters of this thread say that they are to be woken by {@link residentPollFds}, and then `sleep`, unless one of them has
 * something to do.
 *
 * @param sleep is given the µs until that time, or until an adapter wants a turn
 */
export function sleepAll(deadlineUs: number, sleep: (timeoutUs: number) => void): void {
  let wakeUs = deadlineUs;
  for (const host of residents) {
    host.pause();
    wakeUs = Math.min(wakeUs, host.nextTurnUs());
  }
  // All of them, also when one has something: each says for itself that it is to be woken.
  const quiet = residents.filter((host) => host.fallAsleep()).length === residents.length;
  if (quiet) sleep(wakeUs - nowUs());
  for (const host of residents) host.wakeUp();
}

/** What becomes readable for adapters of this thread: a list each, which stays the same array while it is the same. */
export function residentPollFds(): readonly (readonly number[])[] {
  return residents.map(({ pollFds }) => pollFds);
}

function residentPoll(): PollSet {
  const lists = residentPollFds();
  if (residentFds === undefined || lists.some((fds, i) => fds !== residentFdLists[i])) {
    residentFdLists = lists;
    residentFds = new PollSet(lists.flat());
  }
  return residentFds;
}
