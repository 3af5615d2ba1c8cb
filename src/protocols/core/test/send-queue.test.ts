import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Cq, Qp, VerbsError } from '../../../entry/index.js';
import { type Engine, type Lease, type SendListener, SendQueue } from '../index.js';
import { type Sim, simulate } from '../../../entry/sim.js';
import { connectEndpoints, Endpoint, SLOTS, twoEngines } from './support/endpoints.js';

const DEPTH = SLOTS;
const NOTHING = new Uint8Array(0);

/** Messages without bytes. */
class Messages implements SendListener<number> {
  readonly queue: SendQueue<number>;
  readonly told: string[] = [];
  readonly refusals: string[] = [];
  onLeft: () => void = () => undefined;

  constructor(engine: Engine, qp: Qp) {
    this.queue = new SendQueue(engine, qp, DEPTH, this, 'messages');
  }

  /** @returns whether it was begun */
  send(isAwaited: boolean, lease?: Lease): boolean {
    const qp = this.queue.begin(isAwaited ? this.told.length : undefined, lease, isAwaited);
    if (qp === undefined) return false;
    qp.wrSend();
    qp.wrSetInlineData(NOTHING);
    this.queue.end();
    return true;
  }

  onDone(): void {
    this.#leave('done');
  }

  onFailed(_: number | undefined, _lease: Lease | undefined, cq: Cq | undefined): void {
    this.#leave(cq === undefined ? 'lost' : 'failed');
  }

  onRefused({ code }: VerbsError): void {
    this.refusals.push(code);
  }

  #leave(what: string): void {
    this.told.push(what);
    this.onLeft();
  }
}

async function messages(sim: Sim) {
  const { hosts, engines } = twoEngines(sim);
  const [client, server] = engines.map((engine) => new Endpoint(engine));
  const receive = (qp: Qp): void => {
    for (let i = 0; i < SLOTS; i += 1) server.receive(qp, i);
  };
  const { atClient } = await connectEndpoints(hosts, [client, server], 1, receive, undefined, false);
  const { qp } = atClient;
  return { engine: engines[0], qp, atClient, said: new Messages(engines[0], qp) };
}

/** @returns how many lists were posted since */
function countLists(qp: Qp): { lists: number } {
  const posted = { lists: 0 };
  const complete = qp.wrComplete.bind(qp);
  qp.wrComplete = () => {
    posted.lists += 1;
    complete();
  };
  return posted;
}

describe('a send queue', () => {
  it('tells of each once, has every place again, and signals the last that fits', () =>
    simulate(async (sim) => {
      const { engine, said } = await messages(sim);
      for (let i = 0; i < DEPTH; i += 1) assert.ok(said.send(false));
      assert.equal(said.queue.room, 0);
      assert.equal(said.queue.endsUnsignaled, false);
      while (!said.queue.isEmpty) engine.progress();
      assert.equal(said.told.length, DEPTH);
      assert.ok(!said.told.includes('failed'));
      assert.equal(said.queue.room, DEPTH);
    }));

  it('gives back what it kept, and releases the lease only after that', () =>
    simulate(async (sim) => {
      const { engine, said } = await messages(sim);
      const lease = engine.pool.lease(1, 'messages');
      const { leased } = engine.pool;
      const seen: number[] = [];
      said.onLeft = () => seen.push(engine.pool.leased, said.queue.room);
      said.send(false, lease);
      said.send(true);
      assert.deepEqual([...said.queue.kept()], [0]);
      while (!said.queue.isEmpty) engine.progress();
      assert.deepEqual(seen, [leased, DEPTH - 1, leased - 1, DEPTH]);
    }));

  it('posts what one pass begins as one list', () =>
    simulate(async (sim) => {
      const { engine, qp, said } = await messages(sim);
      const posted = countLists(qp);
      said.onLeft = () => {
        said.onLeft = () => undefined;
        for (let i = 0; i < 3; i += 1) said.send(true);
      };
      said.send(true);
      while (said.told.length < 4) engine.progress();
      assert.equal(posted.lists, 2);
    }));

  it('posts as one list what is begun as in a pass, also where that ends by an error', () =>
    simulate(async (sim) => {
      const { engine, qp, said } = await messages(sim);
      const posted = countLists(qp);
      const begin = (): number => {
        for (let i = 0; i < 2; i += 1) said.send(true);
        assert.equal(posted.lists, 0);
        return engine.inPass(() => Number(said.send(true)));
      };
      assert.equal(engine.inPass(begin), 1);
      assert.equal(posted.lists, 1);
      const failing = (): never => {
        said.send(true);
        throw new RangeError('in the midst of it');
      };
      assert.throws(() => engine.inPass(failing), RangeError);
      assert.equal(posted.lists, 2);
      while (said.told.length < 4) engine.progress();
      said.send(true);
      assert.equal(posted.lists, 3);
      while (!said.queue.isEmpty) engine.progress();
    }));

  it('posts what a pass begins though something else that was to be done after it fails', () =>
    simulate(async (sim) => {
      const { engine, qp, said } = await messages(sim);
      const posted = countLists(qp);
      const done: string[] = [];
      const failing = (): void => {
        for (const text of ['one', 'other']) {
          engine.afterPass(() => {
            throw new RangeError(text);
          });
          engine.afterPass(() => engine.afterPass(() => done.push(text)));
        }
        said.send(true);
      };
      assert.throws(() => engine.inPass(failing), RangeError);
      assert.equal(posted.lists, 1);
      assert.deepEqual(done, ['one', 'other']);
      while (!said.queue.isEmpty) engine.progress();
    }));

  it('refuses what is begun once the queue pair was destroyed, and loses what was', () =>
    simulate(async (sim) => {
      const { atClient, said } = await messages(sim);
      assert.ok(said.send(false));
      atClient[Symbol.dispose]();
      said.queue.destroyed();
      assert.deepEqual(said.told, ['lost']);
      assert.equal(said.send(true), false);
      assert.equal(said.refusals.length, 1);
      assert.ok(said.queue.isEmpty);
    }));
});
