import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { Adapter, AdapterClient, AdapterCommand } from '../../../device/adapter/index.js';
import { CompChannelRing, DoorbellPage, Ring } from '../../../device/nic/index.js';
import { EventFd, isThreadThere } from '../../system/index.js';
import { reachMemory, resolveMemory } from '../program-memory.js';
import {
  type ClientStart,
  LoopWords,
  type Notice,
  refusal,
  type Started,
  type ThreadMessage,
  type ThreadReply,
} from './thread-protocol.js';

/** What a client asks of the thread beside its adapter's commands. */
export interface ClientThread {
  share(gate: MessagePort): void;
  leave(client: ThreadClient): void;
}

export class ThreadClient {
  readonly #page: Int32Array;
  readonly #poller: Int32Array;
  readonly #loop: Int32Array;
  #client: AdapterClient | undefined;
  /** Number of the last command that was answered. */
  #handled = 0;

  constructor(
    private readonly start: ClientStart,
    private readonly thread: ClientThread,
  ) {
    this.#page = new Int32Array(start.doorbells);
    this.#poller = new Int32Array(start.poller);
    this.#loop = new Int32Array(start.loop);
  }

  get port(): MessagePort {
    return this.start.commands;
  }

  unref(): void {
    this.start.commands.unref();
  }

  /** Whether the driver has sent a command that was not taken. */
  get commanded(): boolean {
    return Atomics.load(this.#page, DoorbellPage.COMMANDS) !== this.#handled;
  }

  /** Whether its thread is gone, which could not say so. */
  get isDead(): boolean {
    return !isThreadThere(this.start.thread);
  }

  /** @throws CommandError as `Adapter.attach` */
  attach(adapter: Adapter, started: Started): void {
    const { doorbells, asyncEvents, cmEvents } = this.start;
    this.#client = adapter.attach({
      doorbells,
      asyncEvents,
      cmEvents,
      resolve: resolveMemory,
      reach: (place) => reachMemory(place, (text) => this.notice({ kind: 'warning', text })),
      onEvent: this.onEvent,
    });
    this.reply({ started });
  }

  refuse(error: unknown): void {
    this.reply({ started: refusal(error) });
  }

  detach(adapter: Adapter): void {
    if (this.#client !== undefined) adapter.detach(this.#client);
    this.#client = undefined;
  }

  /** Answers the commands that have come. */
  serve(): void {
    while (this.commanded && this.#take());
  }

  answer(message: ThreadMessage): void {
    if (!('command' in message) || this.#client === undefined) return;
    const { number, command } = message;
    this.#handled = number;
    switch (command.verb) {
      case 'share':
        this.thread.share(command.gate);
        this.reply({ number, reply: { value: undefined } });
        break;
      case 'leave':
        this.thread.leave(this);
        break;
      default:
        this.reply({ number, reply: this.#client.answer(command satisfies AdapterCommand) });
    }
  }

  /** Says whether whoever rings has to wake the thread. */
  setAsleep(asleep: boolean): void {
    Atomics.store(this.#page, DoorbellPage.ASLEEP, asleep ? 1 : 0);
  }

  rouse(): void {
    if (Atomics.load(this.#poller, 0) === 0) return;
    Atomics.store(this.#poller, 0, 0);
    Atomics.notify(this.#poller, 0);
  }

  notice(notice: Notice): void {
    this.start.notices.postMessage(notice);
  }

  /** The thread can do no more: nobody is to wait for a reply. */
  fail(): void {
    // Nobody is to ring a doorbell whose file descriptor is soon another file's.
    this.setAsleep(false);
    Atomics.notify(this.#page, DoorbellPage.REPLIES);
  }

  reply(reply: ThreadReply): void {
    this.start.commands.postMessage(reply);
    Atomics.add(this.#page, DoorbellPage.REPLIES, 1);
    Atomics.notify(this.#page, DoorbellPage.REPLIES);
  }

  end(): void {
    this.start.commands.close();
    this.start.notices.close();
  }

  /** An event was put into a ring: wakes those who sleep on it. */
  readonly onEvent = (ring: Int32Array): void => {
    Atomics.notify(ring, Ring.PRODUCER);
    if (Atomics.compareExchange(ring, CompChannelRing.ASYNC_WAITERS, 1, 0) !== 1) return;
    // Counted first: whoever falls asleep says so, and then looks once more.
    Atomics.add(this.#loop, LoopWords.NEWS, 1);
    if (Atomics.exchange(this.#loop, LoopWords.ASLEEP, 0) === 1) this.#wakeLoop();
  };

  #wakeLoop(): void {
    const { loopFd } = this.start;
    if (loopFd === undefined) this.notice({ kind: 'event' });
    else EventFd.ring(loopFd);
  }

  /** Answers one message. @returns whether there was one */
  #take(): boolean {
    const received = receiveMessageOnPort(this.start.commands);
    // The other end is ours and sends nothing else.
    if (received !== undefined) this.answer(received.message as ThreadMessage);
    return received !== undefined;
  }
}
