import { parentPort } from 'node:worker_threads';
import type { Adapter } from '../../../device/adapter/index.js';
import type { DgramLink } from '../../links/index.js';
import { nowUs, ownThread } from '../../system/index.js';
import { openDgramAdapter } from '../native-adapter.js';
import type { NicThread } from './nic-thread.js';
import type { ThreadStart } from './thread-protocol.js';

/** Turns in a row, before the event loop brings what has arrived meanwhile. */
const TURNS_PER_ROUND = 16;
/** Timers of Node's hold no more, and longer ones are set anew when they run out. */
const MAX_ALARM_MS = 60_000;

/** Runs a NIC on Node's own sockets, in the thread's event loop, until its driver says stop. */
export function runDgramThread(start: ThreadStart, thread: NicThread): void {
  try {
    const { adapter, facts, link } = openDgramAdapter(start.spec, thread.warn);
    new DgramLoop(thread, adapter, link).begin();
    thread.started(adapter, { facts, thread: ownThread() });
  } catch (error) {
    thread.refused(error);
  }
}

class DgramLoop {
  #scheduled = false;
  #ended = false;
  #alarm: NodeJS.Timeout | undefined;

  constructor(
    private readonly thread: NicThread,
    private readonly adapter: Adapter,
    private readonly link: DgramLink,
  ) {}

  begin(): void {
    this.link.onReadable = () => this.#stir();
    // Also what keeps the thread's event loop going.
    this.thread.listen((port, take, ended) => {
      port.on('message', (message: unknown) => {
        // Timers that a command sets count from now, not from the last turn.
        this.adapter.nic.advanceTo(nowUs());
        this.#try(() => take(message));
        this.#stir();
      });
      port.on('close', () => {
        this.#try(ended);
        this.#stir();
      });
    });
    // Whoever has it end wakes it so.
    parentPort?.on('message', () => this.#stir());
    this.#stir();
  }

  #stir(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#try(() => this.#round());
    });
  }

  /** Something of ours that breaks ends the NIC; whoever waits for it is told. */
  #try(action: () => void): void {
    if (this.#ended) return;
    try {
      action();
    } catch (error) {
      this.thread.failed(error);
      this.#end();
    }
  }

  #round(): void {
    const { thread, adapter } = this;
    clearTimeout(this.#alarm);
    if (thread.stopping) {
      this.#end();
      thread.stopped();
      return;
    }
    thread.setAsleep(false);
    for (let turns = 0; turns < TURNS_PER_ROUND; turns += 1) {
      if (!adapter.turn(nowUs())) break;
      thread.rousePollers(adapter.nic.counters.completions);
    }
    // As in the other loop: said first, then looked once more. Whoever rings afterwards sends a message.
    thread.setAsleep(true);
    const sleepUs = adapter.nextTurnUs() - nowUs();
    if (adapter.rung || sleepUs <= 0) this.#stir();
    else if (sleepUs < Infinity)
      this.#alarm = setTimeout(() => this.#stir(), Math.min(sleepUs / 1000, MAX_ALARM_MS)).unref();
  }

  #end(): void {
    this.#ended = true;
    clearTimeout(this.#alarm);
    this.adapter.close();
    this.thread.unlisten();
    parentPort?.unref();
  }
}
