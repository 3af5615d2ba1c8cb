import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SendFlags, WcStatus } from '../../../device/ibta/index.js';
import type { Cq, Qp } from '../../../entry/index.js';
import type { Engine, Requests, SendHandler } from '../index.js';
import { type Sim, simulate } from '../../../entry/sim.js';
import { connectEndpoints, Endpoint, fail, SLOTS, twoEngines } from './support/endpoints.js';

type Said = readonly [kind: 'done' | 'completed' | 'lost', cookie: number, status?: WcStatus];

/** A send queue of its own, which takes note of all that it is told. */
class Sends implements SendHandler {
  readonly said: Said[] = [];
  readonly requests: Requests;
  onSaid: (said: Said) => void = () => undefined;

  constructor(engine: Engine) {
    this.requests = engine.sends(this, SLOTS, 'sends');
  }

  onDone(cookie: number): void {
    this.#say(['done', cookie]);
  }

  onCompletion(cookie: number, { status }: Cq): void {
    this.#say(['completed', cookie, status]);
  }

  onLost(cookie: number): void {
    this.#say(['lost', cookie]);
  }

  /** Posts a message without bytes. */
  post(qp: Qp, cookie: number, flags: number): void {
    qp.wrStart();
    qp.wrId = this.requests.expect(cookie);
    qp.wrFlags = flags;
    qp.wrSend();
    qp.wrSetInlineData(new Uint8Array(0));
    qp.wrComplete();
  }

  #say(said: Said): void {
    this.said.push(said);
    this.onSaid(said);
  }
}

const { SIGNALED } = SendFlags;
const UNSIGNALED = 0;

async function sending(sim: Sim) {
  const { hosts, engines } = twoEngines(sim);
  const [client, server] = [new Endpoint(engines[0]), new Endpoint(engines[1])];
  const { atClient, atServer } = await connectEndpoints(
    hosts,
    [client, server],
    1,
    (qp) => {
      for (let i = 0; i < SLOTS; i += 1) server.receive(qp, i);
    },
    undefined,
    false,
  );
  return { engine: engines[0], server: hosts[1], qp: atClient.qp, atClient, atServer, sends: new Sends(engines[0]) };
}

describe('a send queue with unsignaled requests', () => {
  it('has those done that are before one that has completed, in their order', () =>
    simulate(async (sim) => {
      const { engine, qp, sends } = await sending(sim);
      for (const cookie of [7, 3, 5]) sends.post(qp, cookie, UNSIGNALED);
      sends.post(qp, 1, SIGNALED);
      sends.post(qp, 2, UNSIGNALED);
      while (sends.said.length < 4) engine.progress();
      await sim.sleep(10_000);
      engine.progress();
      assert.deepEqual(sends.said, [
        ['done', 7],
        ['done', 3],
        ['done', 5],
        ['completed', 1, WcStatus.SUCCESS],
      ]);
      assert.equal(sends.requests.outstanding, 1);
    }));

  it('has those done that are before one that has failed, and those flushed that come after', () =>
    simulate(async (sim) => {
      const { engine, qp, sends, server } = await sending(sim);
      sends.post(qp, 1, UNSIGNALED);
      await sim.sleep(10_000);
      server.crash();
      sends.post(qp, 2, UNSIGNALED);
      sends.post(qp, 3, SIGNALED);
      await sim.sleep(60_000_000);
      while (engine.progress() > 0);
      assert.deepEqual(sends.said, [
        ['done', 1],
        ['completed', 2, WcStatus.RETRY_EXC_ERR],
        ['completed', 3, WcStatus.WR_FLUSH_ERR],
      ]);
    }));

  it('lets a handler post in place of what is done', () =>
    simulate(async (sim) => {
      const { engine, qp, sends } = await sending(sim);
      let next = 10;
      sends.onSaid = ([kind]) => {
        if (kind === 'done') sends.post(qp, (next += 1), UNSIGNALED);
      };
      for (const cookie of [1, 2]) sends.post(qp, cookie, UNSIGNALED);
      sends.post(qp, 3, SIGNALED);
      while (sends.said.length < 3) engine.progress();
      sends.post(qp, 4, SIGNALED);
      while (sends.said.length < 6) engine.progress();
      assert.deepEqual(
        sends.said.map(([, cookie]) => cookie),
        [1, 2, 3, 11, 12, 4],
      );
      assert.equal(sends.requests.outstanding, 2);
    }));

  it('has the rest lost when a handler ends it in the midst', () =>
    simulate(async (sim) => {
      const { engine, qp, sends, atClient } = await sending(sim);
      sends.onSaid = ([kind]) => {
        if (kind !== 'done') return;
        atClient[Symbol.dispose]();
        sends.requests.end();
      };
      for (const cookie of [1, 2]) sends.post(qp, cookie, UNSIGNALED);
      sends.post(qp, 3, SIGNALED);
      while (sends.said.length === 0) engine.progress();
      assert.deepEqual(sends.said, [
        ['done', 1],
        ['lost', 2],
        ['lost', 3],
      ]);
    }));

  it('tells of each once when the queue pair fails with none that is signaled', () =>
    simulate(async (sim) => {
      const { engine, qp, sends, server } = await sending(sim);
      server.crash();
      for (const cookie of [1, 2, 3]) sends.post(qp, cookie, UNSIGNALED);
      fail(qp);
      while (engine.progress() > 0);
      assert.deepEqual(
        sends.said,
        [1, 2, 3].map((cookie) => ['completed', cookie, WcStatus.WR_FLUSH_ERR]),
      );
    }));
});
