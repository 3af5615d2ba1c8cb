import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Engine } from '../index.js';
import { AddressFamily, rbind, rclose, rsocket, SocketType } from '../../../entry/rsocket.js';
import { QpState, QpType } from '../../../entry/index.js';
import { type Sim, simulate } from '../../../entry/sim.js';
import { connectEndpoints, Endpoint, fail, SLOTS, twoEngines } from './support/endpoints.js';

const ENTRIES = 64;
const TIMES = 100;

/** An endpoint whose queue pair has receives posted. */
function posted(engine: Engine) {
  const endpoint = new Endpoint(engine);
  const qp = engine.pd.createQp({ ...endpoint.qp, qpType: QpType.RC });
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
  for (let i = 0; i < SLOTS; i += 1) endpoint.receive(qp, i);
  const end = (): void => {
    qp.destroy();
    endpoint.requests.end();
  };
  return { endpoint, qp, end };
}

const alone = (sim: Sim): Engine => new Engine(sim.host('alone').context, { entries: ENTRIES, maxEntries: ENTRIES });

describe('the room of a completion queue that nobody polls', () => {
  it('is free again when a queue pair ends whose receives were never filled', () =>
    simulate((sim) => {
      const engine = alone(sim);
      for (let i = 0; i < TIMES; i += 1) posted(engine).end();
      assert.equal(engine.statistics.outstanding.size, 0);
      assert.equal(sim.nowUs, 0);
    }));

  it('is free again when one ends whose receives were flushed', () =>
    simulate((sim) => {
      const engine = alone(sim);
      for (let i = 0; i < TIMES; i += 1) {
        const { endpoint, qp, end } = posted(engine);
        fail(qp);
        end();
        assert.deepEqual(new Set(endpoint.told.map(({ status }) => status)), new Set(['lost']));
      }
      assert.equal(sim.nowUs, 0);
    }));

  it('keeps the numbers of requests that may complete from others, until they have', () =>
    simulate((sim) => {
      const engine = alone(sim);
      const { qp, end } = posted(engine);
      fail(qp);
      end();
      const other = posted(engine);
      while (engine.statistics.unexpected < SLOTS) engine.progress();
      assert.deepEqual(other.endpoint.told, []);
      fail(other.qp);
      while (other.endpoint.told.length < SLOTS) engine.progress();
      other.end();
    }));

  it('is found for another queue pair by a handler, in the midst of a pass', () =>
    simulate(async (sim) => {
      const { hosts, engines } = twoEngines(sim, { entries: ENTRIES, maxEntries: ENTRIES });
      const [client, server] = [new Endpoint(engines[0]), new Endpoint(engines[1])];
      const pair = await connectEndpoints(hosts, [client, server], 1, (qp) => {
        for (let i = 0; i < SLOTS; i += 1) server.receive(qp, i);
      });
      let made = 0;
      server.onTold = () => {
        for (let i = 0; i < TIMES; i += 1) {
          posted(engines[1]).end();
          made += 1;
        }
      };
      for (let i = 0; i < SLOTS; i += 1) client.send(pair.atClient.qp, i);
      await sim.sleep(1000);
      while (server.told.length < SLOTS) engines[1].progress();
      assert.equal(made, SLOTS * TIMES);
    }));

  it('is free again when a datagram socket is closed to which nobody has sent', () =>
    simulate(async (sim) => {
      const { context } = sim.host('alone');
      const once = (): Promise<void> => {
        const socket = rsocket(AddressFamily.INET, SocketType.DGRAM, 0, { context });
        rbind(socket, { port: 7471 });
        return rclose(socket);
      };
      await once();
      const { cqe } = Engine.of(context).cq;
      for (let i = 0; i < TIMES; i += 1) await once();
      assert.equal(Engine.of(context).cq.cqe, cqe);
    }));
});
