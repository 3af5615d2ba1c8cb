import { UcsStatus } from '../../../wire/index.js';
import { check } from '../../../../../../test/sim/failure.js';
import { Family } from '../family.js';
import type { WireupStep } from './plan.js';

const LOOK_US = 1e6;
const LOOKS = 60;

/** Programs that ask for workers by their addresses, and close what they get. */
export class WireupCalls extends Family<WireupStep> {
  #asked = 0;
  #met = 0;

  /** What was asked for is closed: each worker has the endpoints again that it had before, once all has been repeated that was lost. */
  override async finish(): Promise<void> {
    const { workers, isSafe, sim } = this.world;
    if (!isSafe) return;
    const wrong = (): string[] =>
      workers.flatMap((worker, i) => {
        const { endpoints, unclaimedEndpoints } = worker.query();
        const isAsBefore = endpoints === workers.length && unclaimedEndpoints === 0;
        return isAsBefore ? [] : [`worker ${i} has ${endpoints} endpoints, ${unclaimedEndpoints} of them for nobody`];
      });
    for (let look = 0; wrong().length > 0 && look < LOOKS; look += 1) await sim.sleep(LOOK_US);
    check(wrong().length === 0, () => wrong().join(', '));
  }

  verify(isCalm: boolean): void {
    if (isCalm) check(this.#met === this.#asked, () => `${this.#met} of ${this.#asked} calls by address led there`);
  }

  counts(): Record<string, number> {
    return { 'asked by address': this.#asked, 'met by address': this.#met };
  }

  protected override async take({ at, to, heldUs, abortAfterUs }: WireupStep): Promise<void> {
    const { world } = this;
    if (world.down.has(at)) return;
    this.#asked += 1;
    const address = world.addresses[to];
    // The peer may have closed it when its own call was for the same connection; or it is no longer there.
    const explains = (status: UcsStatus): boolean =>
      status === UcsStatus.UCS_ERR_CONNECTION_RESET || world.mayFail(at, to);
    const question = { at, peers: [to], what: `a call of worker ${at} for ${to}`, abortAfterUs, explains };
    const got = await world.ask(question, (signal) =>
      world.hosts[at].run(() => world.workers[at].connectByAddress(address, { signal, timeoutMs: Infinity })),
    );
    if (got === undefined) return;
    this.#met += 1;
    const endpoint = got.value;
    await world.ask({ ...question, what: `a flush of worker ${at} to ${to}`, abortAfterUs: Infinity }, () =>
      endpoint.flush(),
    );
    await world.sim.sleep(heldUs);
    endpoint.close();
  }
}
