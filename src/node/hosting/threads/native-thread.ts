import type { Adapter } from '../../../device/adapter/index.js';
import type { PolledLink } from '../../../device/link/index.js';
import {
  EventFd,
  leaveProcessor,
  nowUs,
  ownThread,
  PollSet,
  setTimeSlice,
  yieldProcessor,
} from '../../system/index.js';
import { Crowding } from '../event-loop/crowding.js';
import { openNativeAdapter } from '../native-adapter.js';
import type { NicThread } from './nic-thread.js';
import type { ThreadStart } from './thread-protocol.js';

/**
 * How long the thread looks again and again after the last thing that happened before it sleeps. On a virtual machine
 * of two processors waking from sleep costs some 50 µs, and windows of packets follow each other at little more: with 50
 * here, 1 MiB WRITEs between two processes lose a third of their rate, and with 200 they gain nothing.
 */
const SPIN_US = 100;
/**
 * The thread asks for the processor for no longer than that at a time: so it goes before programs that look again and again, its own
 * among them, as soon as something wakes it.
 */
const SLICE_US = 100;
/** A thread that is inside a native call cannot be terminated from outside, so no sleep lasts longer. */
const MAX_SLEEP_US = 1_000_000;

/** Runs a NIC by system calls until its driver says stop. */
export function runNativeThread(start: ThreadStart, thread: NicThread): void {
  setTimeSlice(SLICE_US);
  let opened;
  let doorbell;
  try {
    doorbell = new EventFd();
    opened = openNativeAdapter(start.spec, thread.warn);
  } catch (error) {
    doorbell?.close();
    thread.refused(error);
    return;
  }
  const { adapter, facts, link, pause } = opened;
  thread.started(adapter, { facts, wakeFd: doorbell.fd, thread: ownThread() });
  try {
    new NativeLoop(thread, adapter, link, doorbell, pause).run();
  } catch (error) {
    thread.failed(error);
  } finally {
    adapter.close();
    doorbell.close();
  }
  thread.stopped();
}

class NativeLoop {
  /** What the thread sleeps on: the doorbell, then these. */
  #pollFds: readonly number[] = [];
  #sleepers: PollSet | undefined;
  readonly #crowding = new Crowding({ nowUs, yield: yieldProcessor, leave: leaveProcessor });

  constructor(
    private readonly thread: NicThread,
    private readonly adapter: Adapter,
    private readonly link: PolledLink,
    private readonly doorbell: EventFd,
    private readonly pause: () => void,
  ) {}

  run(): void {
    const { thread, adapter } = this;
    let quietSinceUs = nowUs();
    while (!thread.stopping) {
      const now = nowUs();
      let busy = adapter.turn(now);
      if (thread.commanded) {
        thread.serve();
        busy = true;
      }
      thread.checkLives(now);
      if (busy) {
        quietSinceUs = now;
        thread.rousePollers(adapter.nic.counters.completions);
      } else if (now - quietSinceUs < SPIN_US && !this.#crowding.isCrowded(now)) {
        // To the program, perhaps, which may have less than a processor of its own.
        this.#crowding.offer();
      } else {
        if (this.#sleep()) quietSinceUs = nowUs();
        this.#crowding.looks(nowUs());
      }
    }
    // What was posted before the stop still leaves.
    adapter.turn(nowUs());
  }

  /** Sleeps until something happens or the NIC wants a turn. @returns whether something happened */
  #sleep(): boolean {
    const { thread, adapter } = this;
    const nextUs = Math.min(adapter.nextTurnUs(), thread.lifeCheckUs);
    const sleepUs = Math.min(nextUs - nowUs(), MAX_SLEEP_US);
    // Too short to be worth it: sleeps last some 50 µs longer than they should.
    if (sleepUs < SPIN_US) return false;
    this.pause();
    // Said first, then looked once more: whoever rings afterwards finds us asleep and wakes us.
    thread.setAsleep(true);
    if (!this.link.fallAsleep() || adapter.rung || thread.commanded || thread.stopping) {
      this.#wakeUp();
      return true;
    }
    const sleepers = this.#sleepersNow();
    const ready = sleepers.wait(sleepUs);
    this.#wakeUp();
    if (sleepers.isReady(0)) this.doorbell.drain();
    return ready > 0;
  }

  #wakeUp(): void {
    this.thread.setAsleep(false);
    this.link.wakeUp();
  }

  /** Multicast groups and Ethernet frames come by sockets of their own. */
  #sleepersNow(): PollSet {
    const { pollFds } = this.link;
    if (this.#sleepers === undefined || pollFds !== this.#pollFds) {
      this.#pollFds = pollFds;
      this.#sleepers = new PollSet([this.doorbell.fd, ...pollFds]);
    }
    return this.#sleepers;
  }
}
