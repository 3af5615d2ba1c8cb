import { EventType } from '../../src/device/ibta/index.js';
import type { SeededRandom } from '../../src/device/link/index.js';
import type { TestHost, TestSrq } from '../../src/device/nic/test/host.js';
import { check } from './failure.js';

/** Arms the limit event of a shared receive queue again and again: it comes once, when a request is taken and too few are left. */
export class LimitWatch {
  #limit = 0;
  /** Requests taken when it was armed. */
  #takenThen = 0;
  /** Events that are due by now. */
  #due = 0;

  constructor(
    private readonly host: TestHost,
    private readonly srq: TestSrq,
  ) {}

  work(random: SeededRandom, maxWr: number, taken: number): void {
    if (!random.chance(0.1)) return;
    this.#limit = random.between(1, maxWr);
    this.#takenThen = taken;
    this.host.nic.control.modifySrq({ srqn: this.srq.srqn, limit: this.#limit });
  }

  /** To be called before anything is posted: the queue has only become shorter since it was last. */
  check(taken: number): void {
    const { host, srq } = this;
    const { srqn, queue } = srq;
    const armed = host.nic.control.querySrq(srqn).limit;
    const what = `the limit ${String(this.#limit)} of SRQ ${String(srqn)}`;
    check(armed === this.#limit || armed === 0, () => `${what} is ${String(armed)}`);
    const wasTaken = taken > this.#takenThen;
    if (armed < this.#limit) {
      check(wasTaken && queue.inUse < this.#limit, () => `${what} was reached with ${String(queue.inUse)} requests`);
      this.#due += 1;
      this.#limit = 0;
    } else if (armed > 0) {
      check(!wasTaken || queue.inUse >= armed, () => `${what} was not reached with ${String(queue.inUse)} requests`);
    }
    const events = host.events.filter((event) => event.type === EventType.SRQ_LIMIT_REACHED && event.srqn === srqn);
    check(events.length === this.#due, () => `${what}: ${String(events.length)} events, ${String(this.#due)} due`);
  }
}
