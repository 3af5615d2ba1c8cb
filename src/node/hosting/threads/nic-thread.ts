import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { type Adapter, MAX_CLIENTS } from '../../../device/adapter/index.js';
import { type ClientThread, ThreadClient } from './thread-client.js';
import {
  type ClientStart,
  GATE_CLOSED,
  type Started,
  type ThreadMessage,
  type ThreadStart,
  ThreadState,
  ThreadWords,
} from './thread-protocol.js';

/** How long a client whose thread is gone may be kept. To look takes a µs for each. */
const LIFE_CHECK_US = 50_000;

/** Has messages, and the end, of a port taken in the event loop. */
type PortHook = (port: MessagePort, take: (message: unknown) => void, ended: () => void) => void;

/** What the thread's two ways of waiting, by system calls and in the event loop, have in common. */
export class NicThread implements ClientThread {
  readonly #state: Int32Array;
  /** Gates through which no client has come yet. */
  readonly #gates = new Set<MessagePort>();
  /** Whether the NIC was ever shared: then a thread that has a client may end without a word. */
  #shared = false;
  #clients: readonly ThreadClient[];
  #adapter: Adapter | undefined;
  #started: Started | undefined;
  #knocks = 0;
  #completions = 0;
  #lifeCheckUs = 0;
  #hook: PortHook | undefined;

  constructor(start: ThreadStart) {
    this.#state = new Int32Array(start.state);
    this.#clients = [new ThreadClient(start.first, this)];
    Atomics.store(this.#state, ThreadWords.STATE, ThreadState.RUNNING);
    // However it ends but from outside: nobody is to wait for what will not come.
    process.once('exit', () => {
      if (Atomics.load(this.#state, ThreadWords.STATE) === ThreadState.RUNNING) this.failed('it has ended');
    });
  }

  get stopping(): boolean {
    return Atomics.load(this.#state, ThreadWords.STOP) !== 0;
  }

  /** Whether somebody has sent something that was not taken. */
  get commanded(): boolean {
    if (Atomics.load(this.#state, ThreadWords.KNOCKS) !== this.#knocks) return true;
    const clients = this.#clients;
    for (let i = 0; i < clients.length; i += 1) if (clients[i].commanded) return true;
    return false;
  }

  /** Takes what has come: commands, and clients. */
  serve(): void {
    for (const client of this.#clients) client.serve();
    this.#open();
  }

  /** Ends clients whose threads are gone, now and then. When that is due next: Infinity where nobody could. */
  checkLives(nowUs: number): void {
    if (!this.#shared || nowUs < this.#lifeCheckUs) return;
    this.#lifeCheckUs = nowUs + LIFE_CHECK_US;
    for (const client of this.#clients) if (client.isDead) this.leave(client);
  }

  /** When to look at the lives of clients though nothing happens. */
  get lifeCheckUs(): number {
    return this.#shared ? this.#lifeCheckUs : Infinity;
  }

  /** Has `hook` take messages, and the end, of every port in the event loop. */
  listen(hook: PortHook): void {
    this.#hook = hook;
    for (const client of this.#clients) this.#follow(client);
  }

  /** No port keeps the event loop going any more. */
  unlisten(): void {
    for (const client of this.#clients) client.unref();
    for (const gate of this.#gates) gate.unref();
  }

  /** Takes one client at a gate. Of too many unused gates the oldest is closed, since the thread that was to use it has most likely ended. */
  share(gate: MessagePort): void {
    this.#shared = true;
    const [oldest] = this.#gates;
    if (this.#gates.size === MAX_CLIENTS) this.#closeGate(oldest);
    this.#gates.add(gate);
    // As below.
    this.#hook?.(
      gate,
      (message) => this.#enter(gate, message as ClientStart),
      () => this.#gates.delete(gate),
    );
  }

  #follow(client: ThreadClient): void {
    // The other end is ours and sends nothing else.
    this.#hook?.(
      client.port,
      (message) => client.answer(message as ThreadMessage),
      () => {
        if (this.#clients.includes(client)) this.leave(client);
      },
    );
  }

  /** Ends a client; the thread ends with the last one, and says so then. */
  leave(client: ThreadClient): void {
    const others = this.#clients.filter((other) => other !== client);
    if (others.length === 0) {
      Atomics.store(this.#state, ThreadWords.STOP, 1);
      return;
    }
    this.#clients = others;
    if (this.#adapter !== undefined) client.detach(this.#adapter);
    client.reply({ stopped: true });
    client.end();
  }

  /** Wakes programs that nap, when completions have been written since the last call: so many in all. */
  rousePollers(completions: number): void {
    if (completions === this.#completions) return;
    this.#completions = completions;
    for (const client of this.#clients) client.rouse();
  }

  /** Says to all drivers whether they have to wake the thread when they ring. */
  setAsleep(asleep: boolean): void {
    for (const client of this.#clients) client.setAsleep(asleep);
  }

  started(adapter: Adapter, started: Started): void {
    this.#adapter = adapter;
    this.#started = started;
    for (const client of this.#clients) client.attach(adapter, started);
  }

  readonly warn = (text: string): void => {
    for (const client of this.#clients) client.notice({ kind: 'warning', text });
  };

  refused(error: unknown): void {
    this.#setState(ThreadState.STOPPED);
    for (const client of this.#clients) client.refuse(error);
  }

  /** It has let go of everything. */
  stopped(): void {
    Atomics.compareExchange(this.#state, ThreadWords.STATE, ThreadState.RUNNING, ThreadState.STOPPED);
    Atomics.notify(this.#state, ThreadWords.STATE);
    for (const client of this.#clients) client.reply({ stopped: true });
    for (const gate of this.#gates) gate.close();
  }

  /** Something of ours is broken: tells all who wait, instead of leaving them waiting. */
  failed(error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    try {
      // Before anybody hears of it, who then looks for the event that tells it.
      this.#adapter?.broken();
    } finally {
      for (const client of this.#clients) client.notice({ kind: 'failure', text });
      Atomics.store(this.#state, ThreadWords.STATE, ThreadState.FAILED);
      Atomics.notify(this.#state, ThreadWords.STATE);
    }
    for (const client of this.#clients) client.fail();
  }

  /** Takes whoever asks for a client at a gate. */
  #open(): void {
    const knocks = Atomics.load(this.#state, ThreadWords.KNOCKS);
    if (knocks === this.#knocks) return;
    this.#knocks = knocks;
    for (const gate of this.#gates) {
      const got = receiveMessageOnPort(gate);
      // Gates are for those who are handed them, who send nothing else.
      if (got !== undefined) this.#enter(gate, got.message as ClientStart);
    }
  }

  #enter(gate: MessagePort, start: ClientStart): void {
    this.#closeGate(gate);
    this.#admit(start);
  }

  #closeGate(gate: MessagePort): void {
    this.#gates.delete(gate);
    gate.postMessage(GATE_CLOSED);
    gate.close();
  }

  #admit(start: ClientStart): void {
    const client = new ThreadClient(start, this);
    if (this.#adapter === undefined || this.#started === undefined) return;
    try {
      client.attach(this.#adapter, this.#started);
      this.#clients = [...this.#clients, client];
      this.#follow(client);
    } catch (error) {
      client.refuse(error);
      client.end();
    }
  }

  #setState(state: ThreadState): void {
    Atomics.store(this.#state, ThreadWords.STATE, state);
    Atomics.notify(this.#state, ThreadWords.STATE);
  }
}
