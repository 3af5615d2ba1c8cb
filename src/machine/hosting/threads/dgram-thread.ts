import type { Adapter } from '../../../api/soft/index.js';
import { DoorbellPage } from '../../../device/nic/index.js';
import type { DgramLink } from '../../links/index.js';
import { nowUs } from '../../system/index.js';
import { openDgramAdapter } from '../native-adapter.js';
import type { NicThread } from './nic-thread.js';
import type { ThreadMessage, ThreadStart } from './thread-protocol.js';

/** Turns in a row, before the event loop brings what has arrived meanwhile. */
const TURNS_PER_ROUND = 16;
/** Timers of Node's hold no more, and longer ones are set anew when they run out. */
const MAX_ALARM_MS = 60_000;

/** Runs a NIC on Node's own sockets, in the thread's event loop, until its driver says stop. */
export function runDgramThread(start: ThreadStart, thread: NicThread): void {
  try {
    const { adapter, facts, link } = openDgramAdapter(start.spec, thread.warn);
    new DgramLoop(start, thread, adapter, link).begin();
    thread.started(adapter, { facts });
  } catch (error) {
    thread.refused(error);
  }
}

class DgramLoop {
  #scheduled = false;
  #ended = false;
  #alarm: NodeJS.Timeout | undefined;

  constructor(
    private readonly start: ThreadStart,
    private readonly thread: NicThread,
    private readonly adapter: Adapter,
    private readonly link: DgramLink,
  ) {}

  begin(): void {
    this.link.onReadable = () => this.#stir();
    // Also what keeps the thread's event loop going.
    this.start.commands.on('message', (message: ThreadMessage) => {
      // Timers that a command sets count from now, not from the last turn.
      this.adapter.nic.advanceTo(nowUs());
      this.#try(() => this.thread.answer(message));
      this.#stir();
    });
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
    Atomics.store(thread.page, DoorbellPage.ASLEEP, 0);
    for (let turns = 0; turns < TURNS_PER_ROUND; turns += 1) {
      if (!adapter.turn(nowUs())) break;
      thread.rousePoller(adapter.nic.counters.completions);
    }
    // As in the other loop: said first, then looked once more. Whoever rings afterwards sends a message.
    Atomics.store(thread.page, DoorbellPage.ASLEEP, 1);
    const sleepUs = adapter.nextTurnUs() - nowUs();
    if (adapter.rung || sleepUs <= 0) this.#stir();
    else if (sleepUs < Infinity)
      this.#alarm = setTimeout(() => this.#stir(), Math.min(sleepUs / 1000, MAX_ALARM_MS)).unref();
  }

  #end(): void {
    this.#ended = true;
    clearTimeout(this.#alarm);
    this.adapter.close();
    this.start.commands.unref();
  }
}
