import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SeededRandom } from '../../../device/link/index.js';
import { QpState } from '../../../entry/index.js';
import { Engine } from '../index.js';
import { type Sim, type SimHost, simulate } from '../../../entry/sim.js';
import { connectEndpoints, Endpoint, fail, type Pair, SLOTS } from './support/endpoints.js';

const PAIRS = 4;
const STEPS = 120;

/** What a program has expected of an endpoint: each cookie is told once, and of a queue pair in its order. */
class Ledger {
  #next = 0;
  readonly #posted: { readonly cookie: number; readonly isReceive: boolean }[] = [];
  told = 0;

  constructor(private readonly endpoint: Endpoint) {
    endpoint.onTold = ({ cookie }) => {
      this.told += 1;
      const at = this.#posted.findIndex((one) => one.cookie === cookie);
      assert.ok(at >= 0, 'it was expected, and not told before');
      const [{ isReceive }] = this.#posted.splice(at, 1);
      assert.ok(!this.#posted.slice(0, at).some((one) => one.isReceive === isReceive), 'in the order of posting');
      assert.equal(endpoint.requests.outstanding >= 0, true);
    };
  }

  get outstanding(): number {
    return this.#posted.length;
  }

  post(isReceive: boolean, post: (cookie: number) => void): void {
    if (this.#posted.filter((one) => one.isReceive === isReceive).length >= SLOTS) return;
    const cookie = (this.#next += 1);
    this.#posted.push({ cookie, isReceive });
    post(cookie);
  }

  isComplete(): boolean {
    return this.#posted.length === 0 && this.endpoint.requests.outstanding === 0;
  }
}

interface Life {
  readonly pair: Pair;
  readonly ledgers: readonly [Ledger, Ledger];
  isOver: boolean;
}

/** Connections come and go on two engines while the network fails; all that was expected is told once. */
async function play(sim: Sim): Promise<void> {
  const hosts: [SimHost, SimHost] = [sim.host('client'), sim.host('server')];
  const engines = hosts.map(({ context }) => new Engine(context, { entries: 4 }));
  const holds = engines.map((engine) => engine.hold());
  const draw = new SeededRandom(sim.seed);
  const random = (below: number): number => draw.u32() % below;
  const lives: Life[] = [];
  let port = 1;
  const begin = async (): Promise<void> => {
    const [client, server] = [new Endpoint(engines[0]), new Endpoint(engines[1])];
    const ledgers = [new Ledger(client), new Ledger(server)] as const;
    const pair = await connectEndpoints(hosts, [client, server], (port += 1));
    lives.push({ pair, ledgers: [...ledgers], isOver: false });
  };
  const end = (life: Life, gently: boolean): void => {
    life.isOver = true;
    const { client, server, atClient, atServer } = life.pair;
    if (gently) for (const { qp } of [atClient, atServer]) fail(qp);
    for (const connection of [atClient, atServer]) connection[Symbol.dispose]();
    for (const { requests } of [client, server]) requests.end();
    // What was flushed lies in the queue, and is told as lost, once.
    for (const ledger of life.ledgers) assert.ok(ledger.isComplete());
  };
  while (lives.length < PAIRS) await begin();
  sim.setConditions({ loss: 0.05, duplication: 0.05, reordering: 0.05 });
  for (let step = 0; step < STEPS; step += 1) {
    const life = lives[random(lives.length)];
    const { pair, ledgers } = life;
    const which = random(2);
    const [endpoint, connection] = which === 0 ? [pair.client, pair.atClient] : [pair.server, pair.atServer];
    const { qp } = connection;
    switch (random(8)) {
      case 0:
        await sim.sleep(random(2000));
        break;
      case 1:
        if (random(6) === 0) {
          end(life, random(2) === 0);
          lives.splice(lives.indexOf(life), 1);
          await begin();
        }
        break;
      case 2:
        if (random(6) === 0 && qp.state === QpState.RTS) fail(qp);
        break;
      case 3:
      case 4:
      case 5:
        if (qp.state === QpState.RTS) ledgers[which].post(false, (cookie) => endpoint.send(qp, cookie));
        break;
      default:
        if (qp.state === QpState.RTS) ledgers[which].post(true, (cookie) => endpoint.receive(qp, cookie));
    }
  }
  for (const { pair } of lives) for (const { qp } of [pair.atClient, pair.atServer]) fail(qp);
  for (let i = 0; i < 50 && lives.some(({ ledgers }) => ledgers.some((ledger) => !ledger.isComplete())); i += 1)
    await sim.sleep(1000);
  for (const { ledgers } of lives) for (const ledger of ledgers) assert.equal(ledger.outstanding, 0);
  for (const life of lives) end(life, false);
  for (const hold of holds) hold.release();
  for (const engine of engines) {
    assert.deepEqual([...engine.statistics.outstanding], []);
    engine.progress();
  }
}

describe('what an engine was told to expect', () => {
  it('is told once, in order, whatever happens to networks and queue pairs', async () => {
    await simulate({ seeds: 40 }, play);
  });
});
