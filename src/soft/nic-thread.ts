import { receiveMessageOnPort } from 'node:worker_threads';
import { EventFd, nowUs, PollSet } from '../host/index.js';
import { CompChannelRing, DoorbellPage, Ring } from '../nic/index.js';
import { EventType } from '../spec/index.js';
import type { Adapter } from './adapter.js';
import { openUdpAdapter } from './native-adapter.js';
import {
  type Notice,
  refusal,
  type ThreadMessage,
  type ThreadReply,
  type ThreadStart,
  ThreadState,
} from './thread-protocol.js';

/**
 * How long the thread looks again and again after the last thing that happened before it sleeps. Waking takes 5 µs for
 * the thread and as much for whoever rings; longer looks take the processor from the program, where there are few.
 */
const SPIN_US = 50;
/** A thread that is inside a native call cannot be terminated from outside, so no sleep lasts longer. */
const MAX_SLEEP_US = 1_000_000;

/** What the thread's two ways of waiting, by system calls and in the event loop, have in common. */
export class NicThread {
  readonly page: Int32Array;
  #handled = 0;

  constructor(private readonly start: ThreadStart) {
    this.page = new Int32Array(start.doorbells);
  }

  get stopping(): boolean {
    return Atomics.load(this.page, DoorbellPage.STOP) !== 0;
  }

  /** Whether the driver has sent a command that was not taken. */
  get commanded(): boolean {
    return Atomics.load(this.page, DoorbellPage.COMMANDS) !== this.#handled;
  }

  /** Answers the commands that have come. */
  serve(adapter: Adapter): void {
    while (this.commanded) {
      const received = receiveMessageOnPort(this.start.commands);
      if (received === undefined) return;
      // The other end is ours and sends nothing else.
      const message = received.message as ThreadMessage;
      if (!('command' in message)) continue;
      this.#handled = (this.#handled + 1) | 0;
      this.reply({ reply: adapter.answer(message.command) });
    }
  }

  reply(reply: ThreadReply): void {
    this.start.commands.postMessage(reply);
    Atomics.add(this.page, DoorbellPage.REPLIES, 1);
    Atomics.notify(this.page, DoorbellPage.REPLIES);
  }

  notice(notice: Notice): void {
    this.start.notices.postMessage(notice);
  }

  /** An event was put into a ring: wakes those who sleep on it. */
  readonly onEvent = (ring: Int32Array): void => {
    Atomics.notify(ring, Ring.PRODUCER);
    if (Atomics.compareExchange(ring, CompChannelRing.ASYNC_WAITERS, 1, 0) === 1) this.notice({ kind: 'event' });
  };

  readonly warn = (text: string): void => {
    this.notice({ kind: 'warning', text });
  };

  refused(error: unknown): void {
    this.reply({ started: refusal(error) });
  }

  /** Something of ours is broken: tells all who wait, instead of leaving them waiting. */
  failed(error: unknown, adapter: Adapter): void {
    this.notice({ kind: 'failure', text: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    Atomics.store(new Int32Array(this.start.state), 0, ThreadState.FAILED);
    adapter.asyncEvent({ type: EventType.DEVICE_FATAL });
    for (const ring of adapter.eventRings()) this.onEvent(ring);
    Atomics.notify(this.page, DoorbellPage.REPLIES);
  }
}

/** Runs a NIC until its driver says stop. */
export function runNicThread(start: ThreadStart): void {
  const thread = new NicThread(start);
  if (start.native) runNative(start, thread);
}

function runNative(start: ThreadStart, thread: NicThread): void {
  let opened;
  let doorbell;
  try {
    doorbell = new EventFd();
    opened = openUdpAdapter(start.spec, start, thread);
  } catch (error) {
    doorbell?.close();
    thread.refused(error);
    return;
  }
  const { adapter, facts, fd } = opened;
  thread.reply({ started: { facts, wakeFd: doorbell.fd } });
  try {
    turnAndSleep(thread, adapter, new PollSet([fd, doorbell.fd]), doorbell);
  } catch (error) {
    thread.failed(error, adapter);
  } finally {
    adapter.close();
    doorbell.close();
  }
  thread.reply({ stopped: true });
}

function turnAndSleep(thread: NicThread, adapter: Adapter, sleepers: PollSet, doorbell: EventFd): void {
  let quietSinceUs = nowUs();
  while (!thread.stopping) {
    const now = nowUs();
    let busy = adapter.turn(now);
    if (thread.commanded) {
      thread.serve(adapter);
      busy = true;
    }
    if (busy) quietSinceUs = now;
    else if (now - quietSinceUs >= SPIN_US && sleep(thread, adapter, sleepers, doorbell)) quietSinceUs = nowUs();
  }
}

/** Sleeps until something happens or the NIC wants a turn. @returns whether something happened */
function sleep(thread: NicThread, adapter: Adapter, sleepers: PollSet, doorbell: EventFd): boolean {
  const { page } = thread;
  const sleepUs = Math.min(adapter.nextWakeupUs() - nowUs(), MAX_SLEEP_US);
  // Too short to be worth it: sleeps last some 50 µs longer than they should.
  if (sleepUs < SPIN_US) return false;
  // Said first, then looked once more: whoever rings afterwards finds us asleep and wakes us.
  Atomics.store(page, DoorbellPage.ASLEEP, 1);
  if (adapter.rung || thread.commanded || thread.stopping) {
    Atomics.store(page, DoorbellPage.ASLEEP, 0);
    return true;
  }
  const ready = sleepers.wait(sleepUs);
  Atomics.store(page, DoorbellPage.ASLEEP, 0);
  if (sleepers.isReady(1)) doorbell.drain();
  return ready > 0;
}
