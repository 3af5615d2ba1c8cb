import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WcStatus } from '../../../device/ibta/index.js';
import type { Connection, Context, Cq, Qp, VerbsError } from '../../../entry/index.js';
import { type Engine, ReceiveQueue } from '../index.js';
import { simulate } from '../../../entry/sim.js';
import { connectEndpoints, Endpoint, fail, twoEngines } from './support/endpoints.js';

const DEPTH = 6;

/** Keeps what has come, until it is told to give it back. */
class Reader {
  readonly kept: number[] = [];
  readonly errors: WcStatus[] = [];
  readonly refusals: string[] = [];
  readonly receives: ReceiveQueue;

  constructor(engine: Engine, queue: Pick<Qp, 'postRecvSge'>) {
    this.receives = new ReceiveQueue(engine, queue, this, { bytes: 64, owner: 'a reader' });
  }

  onMessage(slot: number, bytes: Uint8Array, cq: Cq): void {
    assert.deepEqual([bytes.length, cq.byteLen], [256, 64]);
    this.kept.push(slot);
  }

  onReceiveError(cq: Cq): void {
    this.errors.push(cq.status);
  }

  onReceiveRefused({ errno }: VerbsError): void {
    this.refusals.push(errno);
  }

  giveBack(): void {
    const slot = this.kept.shift();
    if (slot !== undefined) this.receives.giveBack(slot);
  }
}

describe('receives from the pool', () => {
  it('keep a shared receive queue filled, and give all back in the end', () =>
    simulate(async (sim) => {
      const { hosts, engines } = twoEngines(sim);
      const srq = engines[1].pd.createSrq({ maxWr: DEPTH });
      const reader = new Reader(engines[1], srq);
      reader.receives.deepen(DEPTH);
      const pairs = [];
      for (const port of [1, 2]) {
        const [client, server] = [new Endpoint(engines[0]), new Endpoint(engines[1])];
        pairs.push(await connectEndpoints(hosts, [client, server], port, undefined, srq));
      }
      const [first, second] = pairs;
      const send = (): void => {
        for (const { client, atClient } of [first, second]) client.send(atClient.qp, 1);
      };
      send();
      for (let round = 0; round < 20; round += 1) {
        send();
        while (reader.kept.length < 4) engines[1].progress();
        assert.equal(reader.receives.posted, DEPTH - 4);
        reader.giveBack();
        reader.giveBack();
        while (engines[0].progress() > 0);
      }
      assert.equal(engines[1].pool.leased, DEPTH);
      for (const { atServer } of pairs) fail(atServer.qp);
      for (const { atServer, atClient } of pairs) {
        atServer[Symbol.dispose]();
        atClient[Symbol.dispose]();
      }
      srq.destroy();
      reader.receives.end();
      assert.equal(engines[1].pool.leased, 2);
      reader.giveBack();
      reader.giveBack();
      assert.equal(engines[1].pool.leased, 0);
    }));

  it('wait for buffers where the pool has none, and are flushed with their queue pair', () =>
    simulate(async (sim) => {
      const { hosts, engines } = twoEngines(sim, { poolBytes: 8 * 256 });
      const [client, server] = [new Endpoint(engines[0]), new Endpoint(engines[1])];
      const others = [1, 2, 3, 4].map(() => engines[1].pool.lease(1, 'others'));
      const { atServer } = await connectEndpoints(hosts, [client, server], 1);
      const reader = new Reader(engines[1], atServer.qp);
      reader.receives.deepen(DEPTH);
      assert.equal(reader.receives.posted, 4);
      for (const lease of others) lease.release();
      await new Promise(setImmediate);
      assert.equal(reader.receives.posted, DEPTH);
      fail(atServer.qp);
      while (reader.errors.length < DEPTH) engines[1].progress();
      assert.deepEqual([...new Set(reader.errors)], [WcStatus.WR_FLUSH_ERR]);
      assert.deepEqual([reader.receives.posted, engines[1].pool.leased], [0, 0]);
      atServer[Symbol.dispose]();
      reader.receives.end();
      assert.deepEqual(reader.refusals, []);
    }));

  for (const [what, lose] of [
    ['queue pair', (atServer) => atServer[Symbol.dispose]()],
    ['device', (_, context) => context.close()],
  ] as const satisfies readonly [string, (atServer: Connection, context: Context) => void][])
    it(`are refused where a buffer comes once the ${what} has gone, and throw nothing`, () =>
      simulate(async (sim) => {
        const { hosts, engines } = twoEngines(sim, { poolBytes: 8 * 256 });
        const [, engine] = engines;
        const others = [1, 2, 3, 4].map(() => engine.pool.lease(1, 'others'));
        const { atServer } = await connectEndpoints(hosts, [new Endpoint(engines[0]), new Endpoint(engine)], 1);
        const reader = new Reader(engine, atServer.qp);
        reader.receives.deepen(DEPTH);
        lose(atServer, engine.context);
        for (const lease of others) lease.release();
        await new Promise(setImmediate);
        assert.equal(reader.refusals.length, 1);
        assert.equal(reader.receives.posted, 4);
        reader.receives.end();
        assert.equal(engine.pool.leased, 0);
      }));
});
