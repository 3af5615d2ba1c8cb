import { receiveMessageOnPort } from 'node:worker_threads';
import type { Adapter, AdapterClient } from '../../../api/soft/index.js';
import { CompChannelRing, DoorbellPage, Ring } from '../../../device/nic/index.js';
import { resolveMemory } from '../program-memory.js';
import {
  type Notice,
  refusal,
  type Started,
  type ThreadMessage,
  type ThreadReply,
  type ThreadStart,
  ThreadState,
} from './thread-protocol.js';

/** What the thread's two ways of waiting, by system calls and in the event loop, have in common. */
export class NicThread {
  readonly page: Int32Array;
  readonly #state: Int32Array;
  readonly #poller: Int32Array;
  #adapter: Adapter | undefined;
  #client: AdapterClient | undefined;
  /** Number of the last command that was answered. */
  #handled = 0;
  #completions = 0;

  constructor(private readonly start: ThreadStart) {
    this.page = new Int32Array(start.doorbells);
    this.#state = new Int32Array(start.state);
    this.#poller = new Int32Array(start.poller);
    Atomics.store(this.#state, 0, ThreadState.RUNNING);
    // However it ends but from outside: nobody is to wait for what will not come.
    process.once('exit', () => {
      if (Atomics.load(this.#state, 0) === ThreadState.RUNNING) this.failed('it has ended');
    });
  }

  get stopping(): boolean {
    return Atomics.load(this.page, DoorbellPage.STOP) !== 0;
  }

  /** Whether the driver has sent a command that was not taken. */
  get commanded(): boolean {
    return Atomics.load(this.page, DoorbellPage.COMMANDS) !== this.#handled;
  }

  /** Answers the commands that have come. */
  serve(): void {
    while (this.commanded) {
      const received = receiveMessageOnPort(this.start.commands);
      if (received === undefined) return;
      // The other end is ours and sends nothing else.
      this.answer(received.message as ThreadMessage);
    }
  }

  answer(message: ThreadMessage): void {
    if (!('command' in message) || this.#client === undefined) return;
    const { number, command } = message;
    this.#handled = number;
    this.#reply({ number, reply: this.#client.answer(command) });
  }

  /** Wakes a program that naps, when completions have been written since the last call: so many in all. */
  rousePoller(completions: number): void {
    if (completions === this.#completions) return;
    this.#completions = completions;
    if (Atomics.load(this.#poller, 0) === 0) return;
    Atomics.store(this.#poller, 0, 0);
    Atomics.notify(this.#poller, 0);
  }

  /** The adapter is up. */
  started(adapter: Adapter, started: Started): void {
    const { doorbells, asyncEvents, cmEvents } = this.start;
    this.#adapter = adapter;
    this.#client = adapter.attach({ doorbells, asyncEvents, cmEvents, resolve: resolveMemory, onEvent: this.onEvent });
    this.#reply({ started });
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
    Atomics.store(this.#state, 0, ThreadState.STOPPED);
    this.#reply({ started: refusal(error) });
  }

  /** It has let go of everything. */
  stopped(): void {
    Atomics.compareExchange(this.#state, 0, ThreadState.RUNNING, ThreadState.STOPPED);
    this.#reply({ stopped: true });
  }

  /** Something of ours is broken: tells all who wait, instead of leaving them waiting. */
  failed(error: unknown): void {
    this.notice({ kind: 'failure', text: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    Atomics.store(this.#state, 0, ThreadState.FAILED);
    // Nobody is to ring a doorbell whose file descriptor is soon another file's.
    Atomics.store(this.page, DoorbellPage.ASLEEP, 0);
    this.#adapter?.broken();
    Atomics.notify(this.page, DoorbellPage.REPLIES);
  }

  #reply(reply: ThreadReply): void {
    this.start.commands.postMessage(reply);
    Atomics.add(this.page, DoorbellPage.REPLIES, 1);
    Atomics.notify(this.page, DoorbellPage.REPLIES);
  }
}
