import { CommandError, Ring } from '../../../../device/nic/index.js';
import { invalid, type Problem, VerbsError } from '../../../../api/verbs/index.js';
import type { AdapterHost } from '../../adapter-host.js';
import { type EventFollower, type Following, type Life, Waiters } from '../../../../api/runtime/index.js';
import type { EventReader } from './event-reader.js';

/** A NIC in another thread takes back its promise of an event before it writes that: so long it has for it, µs. */
const LAST_LOOK_US = 100_000;

/**
 * Events of one ring: polled, waited for by blocking the thread, or awaited in the event
 * loop. Each event goes to one of them.
 */
export class EventSource<T> {
  readonly #waiters = new Waiters<T>({
    take: () => this.#takeForWaiter(),
    listen: () => {
      this.#life = this.host.listen(() => this.#waiters.serve());
      if (!this.#isReferenced) this.#life.unref();
    },
    rest: () => this.#rest(),
  });
  /** Of whatever listens, while somebody waits. */
  #life: Life | undefined;
  #isReferenced = true;

  constructor(
    private readonly host: Pick<AdapterHost, 'failure' | 'listen' | 'nowUs' | 'wait'>,
    private readonly reader: EventReader,
    /** Takes the oldest event out of the ring; undefined when there is none. */
    readonly tryTake: () => T | undefined,
    /** C name of the call that waits. */
    private readonly call: string,
  ) {}

  /**
   * The oldest event; blocks the thread until there is one.
   *
   * @param silence why no event can come, where that is known: a wait without an end ends with that
   * @throws VerbsError ETIMEDOUT after `timeoutMs`, EIO when the adapter has stopped
   */
  take(timeoutMs = Infinity, silence: () => Problem | undefined = () => undefined): T {
    if (typeof timeoutMs !== 'number' || !(timeoutMs >= 0))
      throw new VerbsError(this.call, invalid(`timeoutMs is ${String(timeoutMs)}`, 'It is a number of milliseconds'));
    const { host, reader } = this;
    const deadlineUs = timeoutMs === Infinity ? Infinity : host.nowUs() + timeoutMs * 1000;
    /** Since when no event can come. */
    let silentUs = Infinity;
    for (;;) {
      const event = this.tryTake();
      if (event !== undefined) return event;
      const leftUs = deadlineUs === Infinity ? Infinity : deadlineUs - host.nowUs();
      const problem = silence();
      if (leftUs <= 0) {
        const message = `no event within ${timeoutMs} ms${problem === undefined ? '' : `; ${problem.message}`}`;
        throw new VerbsError(this.call, { errno: 'ETIMEDOUT', message, advice: problem?.advice ?? '' });
      }
      if (problem === undefined) silentUs = Infinity;
      else if (leftUs === Infinity && host.nowUs() > silentUs + LAST_LOOK_US) throw new VerbsError(this.call, problem);
      else if (silentUs === Infinity) silentUs = host.nowUs();
      try {
        const patienceUs = silentUs === Infinity ? leftUs : Math.min(leftUs, LAST_LOOK_US);
        host.wait(reader.words, Ring.PRODUCER, reader.position, patienceUs);
      } catch (error) {
        // What has stopped the adapter may have been announced since.
        const last = this.tryTake();
        if (last !== undefined) return last;
        throw this.#verbsError(error);
      }
    }
  }

  /** The events one after the other, until the source is closed. `return` also ends a wait that is under way. */
  iterate(): AsyncIterableIterator<T, void, undefined> {
    return this.#waiters.iterate();
  }

  /** Gives events to a follower, which keeps the process alive until it stops. */
  follow(follower: EventFollower<T>): Following {
    return this.#waiters.follow(follower);
  }

  /** Has whoever waits in the event loop keep the process alive, or not. */
  reference(isReferenced: boolean): void {
    this.#isReferenced = isReferenced;
    if (isReferenced) this.#life?.ref();
    else this.#life?.unref();
  }

  /** Ends every wait in the event loop. Idempotent. */
  close(): void {
    this.#waiters.close();
  }

  /** @throws VerbsError EIO when there is none and the adapter has stopped */
  #takeForWaiter(): T | undefined {
    // Before looking, so that an event which comes afterwards is announced.
    if (this.#life !== undefined) this.reader.announce(true);
    const event = this.tryTake();
    const { failure } = this.host;
    if (event === undefined && failure !== undefined) throw this.#verbsError(new CommandError('EIO', failure));
    return event;
  }

  #rest(): void {
    this.reader.announce(false);
    this.#life?.end();
    this.#life = undefined;
  }

  #verbsError(error: unknown): Error {
    if (error instanceof CommandError)
      return new VerbsError(this.call, { errno: error.errno, message: error.message, advice: '' });
    return error instanceof Error ? error : new Error(String(error));
  }
}
