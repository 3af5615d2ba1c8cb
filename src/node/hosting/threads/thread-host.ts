import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { AdapterCommand, Argument, Value, Verb } from '../../../device/adapter/index.js';
import type { AdapterHost, LocatedMemory } from '../../../providers/soft/index.js';
import { type Life, SharedLife } from '../../../api/runtime/index.js';
import type { Gid } from '../../../device/ibta/index.js';
import { CommandError, DoorbellPage, Ring } from '../../../device/nic/index.js';
import {
  EventFd,
  inRootContext,
  isThreadThere,
  nowUs,
  ownThread,
  wallClockNs,
  yieldProcessor,
} from '../../system/index.js';
import { deviceClockNs } from '../device-clock.js';
import { type LoopDoorbell, loopDoorbell } from '../event-loop/loop-doorbell.js';
import { LoopSpin } from '../event-loop/loop-spin.js';
import { closeAtExit } from '../exit-hook.js';
import { locateAcrossThreads } from '../program-memory.js';
import { requireRoom } from '../spare-room.js';
import { giveBackRings, takeRings } from './client-rings.js';
import { type NicHandle, SharedNic, type SharedThread } from './nic-handle.js';
import {
  type ClientStart,
  LoopWords,
  type Notice,
  type Started,
  type ThreadMessage,
  type ThreadReply,
  type ThreadRequest,
  ThreadState,
  ThreadWords,
} from './thread-protocol.js';

/** Looks at the reply counter before sleeping on it: most commands are answered within that, and waking takes longer. */
const REPLY_SPINS = 2000;
/** Sleeps are cut into pieces, so that a thread that died without a word is noticed. */
const SLEEP_MS = 500;
/** A loaded machine may take long to start a thread. */
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 5_000;
/** How long a program may look at an empty queue again and again before it naps until the NIC has something for it. */
const SPIN_US = 100;
/**
 * Looks at an empty queue after which the processor is offered to others, the NIC's thread among them. Two programs with
 * a NIC thread each on two processors: a round trip takes 48 µs so, 137 without.
 */
const POLLS_PER_YIELD = 8;
/** Looks at an empty queue after which it is looked whether the NIC's thread is still there. */
const POLLS_PER_LIFE_CHECK = 4096;
/** A nap that nothing ends, since what the program waits for may come from elsewhere. */
const NAP_MS = 1;

interface Waiting {
  readonly timeoutMs?: number;
  /** Called now and then. What it throws ends the wait. */
  readonly meanwhile?: () => void;
}

const told = new Set<string>();

/** Those who test programs may put other timers into the place of the real ones. */
const { setImmediate } = globalThis;

/** The word on which this thread naps (`ThreadStart.poller`). */
const poller = new Int32Array(new SharedArrayBuffer(4));

/**
 * Sleeps for a moment, or until a NIC has done something: where there are fewer processors than threads that spin,
 * spinning keeps the NIC from its work.
 */
function nap(ring: Int32Array, seen: number): void {
  Atomics.store(poller, 0, 1);
  if (Atomics.load(ring, Ring.PRODUCER) === seen) Atomics.wait(poller, 0, 1, NAP_MS);
  Atomics.store(poller, 0, 0);
}

/**
 * Memory that NICs in threads of their own may touch, NIC by NIC. A bare address keeps nothing alive, so nothing in here
 * is collected, even when the program has forgotten the device.
 */
const touched = new Set<Set<Uint8Array>>();

/** An adapter in a thread of its own, which goes on while the program computes. */
export class ThreadHost implements AdapterHost {
  readonly kind = 'thread';
  readonly address: string;
  readonly gid: Gid;
  readonly maxPacketBytes: number;
  readonly crc32Source: string;
  readonly doorbells: ArrayBufferLike;
  readonly asyncEvents: ArrayBufferLike;
  readonly cmEvents: ArrayBufferLike;

  readonly #rings = takeRings();
  readonly #clockOriginNs: bigint;
  readonly #page = new Int32Array(this.#rings.doorbells);
  readonly #state: Int32Array;
  readonly #commands: MessagePort;
  readonly #notices: MessagePort;
  /** The NIC's thread, as the system knows it. */
  #thread: string | undefined;
  /** Number of the thread's eventfd. */
  readonly #wakeFd: number | undefined;
  readonly #warn: (text: string) => void;
  readonly #listeners = new Set<() => void>();
  readonly #listening = new SharedLife(() => this.#beginListening());
  /** {@link LoopWords}. */
  readonly #loop = new Int32Array(new SharedArrayBuffer(4 * LoopWords.COUNT));
  /** `LoopWords.NEWS` that listeners were told of. */
  #toldNews = 0;
  readonly #doorbell: LoopDoorbell | undefined;
  /** Goes on while somebody listens. */
  readonly #spin = new LoopSpin({
    look: () => this.#tellNews(),
    wakeUp: () => this.#stayAwake(),
    fallAsleep: () => this.#fallAsleep(),
  });
  readonly #forgetExit: () => void;
  readonly #touched = new Set<Uint8Array>();
  #number = 0;
  /** The thread is being woken: set again where a call was interrupted before it had done that. */
  #waking = false;
  #emptyPolls = 0;
  #idleSinceUs = 0;
  #failure: string | undefined;
  #open = true;
  #closed = false;
  #isAdmitted = false;

  /**
   * @param nic the NIC's thread: one that is to be started, or one that somebody shares
   * @throws CommandError when the address or the capture file cannot be had, or what a thread needs; ENOMEM when the NIC has too
   *   many clients, EINVAL when nobody has it any more
   */
  constructor(
    private readonly nic: NicHandle,
    warn: (text: string) => void,
  ) {
    this.#warn = warn;
    this.#state = nic.state;
    ({ doorbells: this.doorbells, asyncEvents: this.asyncEvents, cmEvents: this.cmEvents } = this.#rings);
    requireRoom();
    this.#doorbell = loopDoorbell();
    const commands = new MessageChannel();
    const notices = new MessageChannel();
    this.#commands = commands.port1;
    this.#notices = notices.port1;
    const start: ClientStart = {
      ...this.#rings,
      poller: poller.buffer,
      loop: this.#loop.buffer,
      loopFd: this.#doorbell?.fd,
      thread: ownThread(),
      commands: commands.port2,
      notices: notices.port2,
    };
    nic.admit(start, (why) => {
      // The number of its eventfd is soon another file's.
      Atomics.store(this.#page, DoorbellPage.ASLEEP, 0);
      this.#fail(why);
    });
    this.#forgetExit = closeAtExit(() => this.close());
    const { facts, wakeFd, thread } = this.#started();
    this.#thread = thread;
    this.#wakeFd = wakeFd;
    nic.wakeFd = wakeFd;
    this.address = facts.address;
    this.gid = facts.gid;
    this.maxPacketBytes = facts.maxPacketBytes;
    this.crc32Source = facts.crc32Source;
    this.#clockOriginNs = facts.clockOriginNs;
    // What the start had to say is said before the program goes on.
    this.#readNotices();
    this.#notices.on('message', (notice: Notice) => this.#onNotice(notice));
    this.#notices.on('close', () => {
      if (this.#open) this.#fail('it has ended');
    });
    this.#notices.unref();
    touched.add(this.#touched);
  }

  share(): SharedThread {
    const { port1: port, port2: gate } = new MessageChannel();
    this.#send({ verb: 'share', gate }, [gate]);
    const { address } = this;
    const owner = this.nic.owner;
    return { address, host: 'thread', port, state: this.nic.state.buffer, wakeFd: this.#wakeFd, owner };
  }

  another(): AdapterHost {
    return new ThreadHost(new SharedNic(this.share()), this.#warn);
  }

  get failure(): string | undefined {
    if (this.#failure !== undefined) return this.#failure;
    if (this.#stateIs(ThreadState.FAILED)) this.#readNotices();
    else if (this.#open && this.#isAdmitted && this.#stateIs(ThreadState.STOPPED))
      this.#fail('the thread that has opened it has ended');
    return this.#failure;
  }

  execute<V extends Verb>(verb: V, argument: Argument<V>): Value<V> {
    // A command is the pair of a verb and its own argument, which the parameters' types have seen to.
    const reply = this.#send({ verb, argument } as AdapterCommand);
    // The adapter answers a verb with that verb's value.
    return reply as Value<V>;
  }

  locate(bytes: Uint8Array): LocatedMemory {
    const located = locateAcrossThreads(bytes, this.nic.isOwn);
    this.#touched.add(bytes);
    return located;
  }

  release(bytes: Uint8Array): void {
    // Afterwards it depends on how the thread ended.
    if (this.#open) this.#touched.delete(bytes);
  }

  ring(): void {
    if (this.#listeners.size > 0 && !this.#spin.isAwake) this.#spin.stir(nowUs());
    const again = this.#waking;
    // Stored by the NIC before it looks for doorbells a last time; we look at it after we rang.
    if (!again && Atomics.load(this.#page, DoorbellPage.ASLEEP) === 0) return;
    this.#waking = true;
    if (Atomics.compareExchange(this.#page, DoorbellPage.ASLEEP, 1, 0) === 1 || again) this.#wake();
    this.#waking = false;
  }

  found(): void {
    this.#emptyPolls = 0;
  }

  idle(ring: Int32Array, seen: number): void {
    this.#emptyPolls += 1;
    if (this.#emptyPolls === 1) this.#idleSinceUs = nowUs();
    if (this.#emptyPolls % POLLS_PER_YIELD !== 0) return;
    if (this.#waking) this.ring();
    this.#assertAlive();
    if (nowUs() - this.#idleSinceUs < SPIN_US) {
      yieldProcessor();
      return;
    }
    if (this.#emptyPolls % POLLS_PER_LIFE_CHECK === 0) this.#checkLife();
    nap(ring, seen);
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

  wait(ring: Int32Array, index: number, seen: number, timeoutUs: number): void {
    this.#assertAlive();
    if (Atomics.wait(ring, index, seen, Math.min(timeoutUs / 1000, SLEEP_MS)) === 'timed-out') this.#checkLife();
  }

  listen(listener: () => void): Life {
    const life = this.#listening.share();
    this.#listeners.add(listener);
    const end = (): void => {
      this.#listeners.delete(listener);
      life.end();
    };
    return { ref: () => life.ref(), unref: () => life.unref(), end };
  }

  close(): void {
    if (this.#closed) return;
    const isUp = this.#open && this.failure === undefined && this.#stateIs(ThreadState.RUNNING);
    this.#open = false;
    this.#spin.end();
    this.#stayAwake();
    // The address must be free, and the program's memory no longer in use, when this returns.
    const left = isUp && this.#isAdmitted && this.#leave();
    if (!this.#isAdmitted) this.nic.abandon();
    if (left || this.failure !== undefined || !this.#stateIs(ThreadState.RUNNING)) touched.delete(this.#touched);
    this.#readNotices();
    this.#notices.close();
    this.#commands.close();
    this.#closed = true;
    if (left) giveBackRings(this.#rings);
    this.#forgetExit();
  }

  /** Ends the client. @returns whether the NIC has said that it did */
  #leave(): boolean {
    const seen = Atomics.load(this.#page, DoorbellPage.REPLIES);
    this.#post({ verb: 'leave' });
    return this.#await(seen, (reply) => 'stopped' in reply, { timeoutMs: STOP_TIMEOUT_MS }) !== undefined;
  }

  /** Posts a command. @returns its number */
  #post(command: ThreadRequest, transfer: readonly MessagePort[] = []): number {
    const number = (this.#number + 1) | 0;
    this.#number = number;
    const message: ThreadMessage = { number, command };
    this.#commands.postMessage(message, transfer);
    Atomics.store(this.#page, DoorbellPage.COMMANDS, number);
    this.ring();
    return number;
  }

  /** Has the thread do something. @throws CommandError when it is refused */
  #send(command: ThreadRequest, transfer: readonly MessagePort[] = []): unknown {
    this.#assertAlive();
    const seen = Atomics.load(this.#page, DoorbellPage.REPLIES);
    const number = this.#post(command, transfer);
    const answer = this.#await(seen, (reply) => 'number' in reply && reply.number === number);
    if (answer === undefined || !('reply' in answer))
      throw new CommandError('EIO', this.failure ?? 'the NIC is closed');
    const { reply } = answer;
    if ('errno' in reply) throw new CommandError(reply.errno, reply.message);
    return reply.value;
  }

  /** Whether the NIC's thread ended without a word, as a thread does whose parent was terminated: nothing will come any more. */
  #checkLife(): void {
    if (this.#stateIs(ThreadState.UNBORN) || this.#failure !== undefined) return;
    if (!isThreadThere(this.#thread)) this.#fail('it has ended');
  }

  #started(): Started {
    try {
      const answer = this.#await(0, (reply) => 'started' in reply, {
        timeoutMs: START_TIMEOUT_MS,
        // Others may have taken meanwhile what the thread needs to tell that it lacks something.
        meanwhile: () => {
          if (this.#stateIs(ThreadState.UNBORN)) requireRoom(1);
        },
      });
      if (answer === undefined || !('started' in answer)) {
        const late = `the NIC's thread did not start within ${START_TIMEOUT_MS / 1000} s`;
        throw new CommandError('EIO', this.failure ?? late);
      }
      if ('errno' in answer.started) throw new CommandError(answer.started.errno, answer.started.message);
      this.#isAdmitted = true;
      return answer.started;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /**
   * The first reply that is awaited, once the counter of replies is no longer `seen`; undefined when none came in time, or
   * none will. Others belong to calls that were interrupted, and nobody asks for them any more.
   */
  #await(
    seen: number,
    isAwaited: (reply: ThreadReply) => boolean,
    { timeoutMs = Infinity, meanwhile }: Waiting = {},
  ): ThreadReply | undefined {
    const page = this.#page;
    let known = seen;
    for (let i = 0; i < REPLY_SPINS && Atomics.load(page, DoorbellPage.REPLIES) === known; i += 1);
    for (let waitedMs = 0; ;) {
      const replies = Atomics.load(page, DoorbellPage.REPLIES);
      if (replies !== known) {
        known = replies;
        for (let got = receiveMessageOnPort(this.#commands); got !== undefined;) {
          // The other end is ours and sends nothing else.
          const reply = got.message as ThreadReply;
          if (isAwaited(reply)) return reply;
          got = receiveMessageOnPort(this.#commands);
        }
      }
      if (waitedMs >= timeoutMs || this.failure !== undefined) return undefined;
      if (Atomics.wait(page, DoorbellPage.REPLIES, known, SLEEP_MS) !== 'timed-out') continue;
      waitedMs += SLEEP_MS;
      this.#checkLife();
      meanwhile?.();
    }
  }

  #wake(): void {
    if (this.#wakeFd !== undefined) EventFd.ring(this.#wakeFd);
    else this.#commands.postMessage({ wake: true } satisfies ThreadMessage);
  }

  #stateIs(state: ThreadState): boolean {
    return Atomics.load(this.#state, ThreadWords.STATE) === state;
  }

  #assertAlive(): void {
    if (!this.#open) throw new CommandError('EIO', 'the NIC is closed');
    const { failure } = this;
    if (failure !== undefined) throw new CommandError('EIO', failure);
  }

  #onNotice(notice: Notice): void {
    switch (notice.kind) {
      case 'event':
        // One that was under way when the host closed: whoever heard of it would ask a thread that is gone.
        if (this.#open) this.#onNews();
        break;
      case 'warning':
        // Threads do not know what others have said already.
        if (!told.has(notice.text)) this.#warn(notice.text);
        told.add(notice.text);
        break;
      case 'failure':
        this.#fail(notice.text);
        break;
    }
  }

  #readNotices(): void {
    for (let got = receiveMessageOnPort(this.#notices); got !== undefined; got = receiveMessageOnPort(this.#notices)) {
      // As in #reply.
      this.#onNotice(got.message as Notice);
    }
    if (this.#failure === undefined && this.#stateIs(ThreadState.FAILED)) this.#fail('it gave no reason');
  }

  #fail(why: string): void {
    if (this.nic.isOwn) Atomics.store(this.#state, ThreadWords.STATE, ThreadState.FAILED);
    if (this.#failure !== undefined) return;
    this.#failure = `the NIC's thread has stopped: ${why.split('\n', 1)[0]}`;
    // All of it, for whoever is to find the mistake.
    this.#warn(`the NIC's thread has stopped: ${why}`);
    this.#callListeners();
  }

  #beginListening(): Life {
    this.#notices.ref();
    this.#spin.stir(nowUs());
    if (!this.#spin.isAwake) this.#fallAsleep();
    return {
      ref: () => {
        this.#notices.ref();
        this.#doorbell?.reference(this.#onNews, true);
      },
      unref: () => {
        this.#notices.unref();
        this.#doorbell?.reference(this.#onNews, false);
      },
      end: () => {
        this.#notices.unref();
        this.#spin.end();
        this.#stayAwake();
      },
    };
  }

  /** Something came while nobody looked. */
  readonly #onNews = (): void => {
    if (this.#listeners.size > 0) this.#spin.woken(nowUs());
    this.#tellNews();
    if (this.#listeners.size > 0 && !this.#spin.isAwake) this.#fallAsleep();
  };

  /** @returns whether there was something to tell of */
  #tellNews(): boolean {
    const news = Atomics.load(this.#loop, LoopWords.NEWS);
    if (news === this.#toldNews) return false;
    this.#toldNews = news;
    this.#callListeners();
    return true;
  }

  #stayAwake(): void {
    Atomics.store(this.#loop, LoopWords.ASLEEP, 0);
    this.#doorbell?.remove(this.#onNews);
  }

  #fallAsleep(): void {
    if (!this.#open) return;
    this.#doorbell?.add(this.#onNews, this.#listening.isReferenced);
    // Said first, then looked once more: whoever has news afterwards wakes us.
    Atomics.store(this.#loop, LoopWords.ASLEEP, 1);
    if (Atomics.load(this.#loop, LoopWords.NEWS) !== this.#toldNews) inRootContext(setImmediate, this.#onNews);
  }

  #callListeners(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
