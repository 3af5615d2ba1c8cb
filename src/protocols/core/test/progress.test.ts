import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QpState, QpType, WcStatus } from '../../../device/ibta/index.js';
import { Engine } from '../index.js';
import { simulate } from '../../../entry/sim.js';
import { connectEndpoints, Endpoint, fail, SLOTS, succeeded, twoEngines } from './support/endpoints.js';

describe('an engine', () => {
  it('hands each completion to whoever posted the request, with its cookie', () =>
    simulate(async (sim) => {
      const { hosts, engines } = twoEngines(sim);
      const [client, server] = [new Endpoint(engines[0]), new Endpoint(engines[1])];
      const [otherClient, otherServer] = [new Endpoint(engines[0]), new Endpoint(engines[1])];
      const pair = await connectEndpoints(hosts, [client, server], 1, (qp) => server.receive(qp, 7));
      const other = await connectEndpoints(hosts, [otherClient, otherServer], 2, (qp) => otherServer.receive(qp, 8));
      client.send(pair.atClient.qp, 100);
      otherClient.send(other.atClient.qp, 200);
      while (client.told.length + otherClient.told.length < 2) engines[0].progress();
      while (server.told.length + otherServer.told.length < 2) engines[1].progress();
      assert.deepEqual(succeeded(client.told), [100]);
      assert.deepEqual(succeeded(otherClient.told), [200]);
      assert.deepEqual(succeeded(server.told), [7]);
      assert.deepEqual(succeeded(otherServer.told), [8]);
      assert.equal(client.requests.outstanding, 0);
    }));

  for (const kind of ['timer', 'chore'] as const)
    it(`hands over what has completed before a ${kind} that is due, where the program has blocked the event loop`, () =>
      simulate(async (sim) => {
        const { hosts, engines } = twoEngines(sim);
        const [client, server] = [new Endpoint(engines[0]), new Endpoint(engines[1])];
        const pair = await connectEndpoints(hosts, [client, server], 1, (qp) => {
          for (let i = 0; i < SLOTS; i += 1) server.receive(qp, i);
        });
        const order: string[] = [];
        const toCancel: (() => void)[] = [];
        server.onTold = ({ cookie }) => {
          order.push(`receive ${cookie}`);
          for (const cancel of toCancel) cancel();
        };
        const send = (): void => {
          client.send(pair.atClient.qp, 0);
          engines[1][kind](1, () => order.push('due'));
          sim.run(sim.nowUs + 2000);
        };
        // A program that polls reads at times of its choice.
        send();
        assert.deepEqual(order, ['due']);
        const hold = engines[1].hold();
        assert.deepEqual(order, ['due', 'receive 0']);
        toCancel.push(engines[1][kind](1.5, () => order.push('cancelled')));
        send();
        assert.deepEqual(order, ['due', 'receive 0', 'receive 1', 'due']);
        hold.release();
      }));

  it('hands over no more at once than its queue holds, where that fills as fast as it is read', () =>
    simulate((sim) => {
      const engine = new Engine(sim.host('host').context);
      let taken = 0;
      engine.progress = (limit: number) => {
        taken += limit;
        return limit;
      };
      engine.readAll(() => taken < 1e6);
      assert.equal(taken, engine.cq.cqe);
    }));

  it('progresses by itself while it is held', () =>
    simulate(async (sim) => {
      const { hosts, engines } = twoEngines(sim);
      const [client, server] = [new Endpoint(engines[0]), new Endpoint(engines[1])];
      const pair = await connectEndpoints(hosts, [client, server], 1, (qp) => server.receive(qp, 0));
      const holds = engines.map((engine) => engine.hold());
      server.onTold = ({ isReceive }) => {
        if (!isReceive) return;
        server.receive(pair.atServer.qp, 0);
        server.send(pair.atServer.qp, 1);
      };
      await new Promise<void>((resolve) => {
        let rounds = 0;
        client.onTold = ({ isReceive }) => {
          if (!isReceive) return;
          if ((rounds += 1) === 20) resolve();
          else play();
        };
        const play = (): void => {
          client.receive(pair.atClient.qp, rounds);
          client.send(pair.atClient.qp, rounds);
        };
        play();
      });
      for (const hold of holds) hold.release();
    }));

  it('tells at the end of a pass who has asked for it, and at once where none is going on and nothing was done since the last', () =>
    simulate(async (sim) => {
      const { hosts, engines } = twoEngines(sim);
      const [client, server] = [new Endpoint(engines[0]), new Endpoint(engines[1])];
      const pair = await connectEndpoints(hosts, [client, server], 1, (qp) => {
        for (const cookie of [1, 2, 3]) server.receive(qp, cookie);
      });
      const order: string[] = [];
      server.onTold = ({ cookie }) => {
        order.push(`told ${cookie}`);
        if (cookie === 1) engines[1].afterPass(() => order.push('after'));
      };
      for (const cookie of [1, 2, 3]) client.send(pair.atClient.qp, cookie);
      await sim.sleep(1000);
      while (server.told.length < 3) engines[1].progress();
      assert.deepEqual(order, ['told 1', 'told 2', 'told 3', 'after']);
      engines[1].afterPass(() => order.push('at once'));
      assert.equal(order.at(-1), 'at once');
      while (client.told.length < 3) engines[0].progress();
    }));

  it('does the first at once that is asked for outside a pass, and others when the program gives way', () =>
    simulate(async (sim) => {
      using engine = new Engine(sim.host('alone').context);
      const order: string[] = [];
      const ask = (what: string): void => engine.afterPass(() => order.push(what));
      for (const what of ['first', 'second', 'third']) ask(what);
      await Promise.resolve();
      order.push('what waited for a promise');
      ask('fourth');
      assert.deepEqual(order, ['first', 'what waited for a promise']);
      await new Promise((resolve) => process.nextTick(resolve));
      assert.deepEqual(order, ['first', 'what waited for a promise', 'second', 'third', 'fourth']);
    }));

  it('does what was asked for before it looks for completions', () =>
    simulate((sim) => {
      using engine = new Engine(sim.host('alone').context);
      const order: string[] = [];
      const ask = (what: string): void => engine.afterPass(() => order.push(what));
      ask('first');
      ask('second');
      engine.progress();
      assert.deepEqual(order, ['first', 'second']);
      ask('first after a pass');
      assert.equal(order.at(-1), 'first after a pass');
    }));

  it('does everything once, whoever progresses meanwhile', () =>
    simulate((sim) => {
      using engine = new Engine(sim.host('alone').context);
      const order: string[] = [];
      engine.inPass(() => {
        engine.afterPass(() => order.push('first'));
        engine.afterPass(() => order.push(`second, ${engine.progress()} more`));
        engine.afterPass(() => order.push('third'));
      });
      assert.deepEqual(order, ['first', 'second, 0 more', 'third']);
    }));

  it('lets no time pass between turns of the loop where more than a batch has come', () =>
    simulate(async (sim) => {
      const { context } = sim.host('alone');
      using engine = new Engine(context);
      const ENTRIES = 500;
      const cap = { maxSendWr: 1, maxRecvWr: ENTRIES, maxSendSge: 1, maxRecvSge: 1 };
      using qp = engine.pd.createQp({ qpType: QpType.RC, sendCq: engine.cq, recvCq: engine.cq, cap });
      qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
      const toldUs: number[] = [];
      const handler = { onCompletion: () => toldUs.push(sim.nowUs), onLost: () => undefined };
      const requests = engine.requests(handler, ENTRIES, 'a test');
      for (let i = 0; i < ENTRIES; i += 1) qp.postRecvSge(requests.expect(i), 0, 0, 0);
      const hold = engine.hold();
      // Something is always about to happen.
      for (let us = 10; us < 10_000; us += 10) sim.at(us, () => undefined);
      qp.modify({ qpState: QpState.ERR });
      await sim.sleep(20_000);
      assert.equal(toldUs.length, ENTRIES);
      assert.equal(new Set(toldUs).size, 1);
      requests.end();
      hold.release();
    }));

  it('takes no more than asked for, and nothing within a handler', () =>
    simulate(async (sim) => {
      const { hosts, engines } = twoEngines(sim);
      const [client, server] = [new Endpoint(engines[0]), new Endpoint(engines[1])];
      const pair = await connectEndpoints(hosts, [client, server], 1, (qp) => {
        for (let i = 0; i < SLOTS; i += 1) server.receive(qp, i);
      });
      for (let i = 0; i < SLOTS; i += 1) client.send(pair.atClient.qp, i);
      const nested: number[] = [];
      client.onTold = () => nested.push(engines[0].progress());
      // Time passes for who polls in vain.
      while (server.told.length < SLOTS) engines[1].progress();
      for (let i = 0; i < SLOTS; i += 1) engines[1].progress();
      assert.equal(engines[0].progress(3), 3);
      assert.equal(engines[0].progress(), SLOTS - 3);
      assert.deepEqual(succeeded(client.told), [0, 1, 2, 3, 4, 5, 6, 7]);
      assert.deepEqual(nested, [0, 0, 0, 0, 0, 0, 0, 0]);
    }));

  it('tells of requests that are flushed, and of those whose queue pair ends that they are lost, each once', () =>
    simulate(async (sim) => {
      const { hosts, engines } = twoEngines(sim);
      const [client, server] = [new Endpoint(engines[0]), new Endpoint(engines[1])];
      const pair = await connectEndpoints(hosts, [client, server], 1, (qp) => {
        for (let i = 0; i < 4; i += 1) server.receive(qp, i);
      });
      for (let i = 0; i < 4; i += 1) client.receive(pair.atClient.qp, i);
      fail(pair.atClient.qp);
      while (engines[0].progress() > 0);
      assert.deepEqual(
        client.told.map(({ cookie, status }) => [cookie, status]),
        [0, 1, 2, 3].map((cookie) => [cookie, WcStatus.WR_FLUSH_ERR]),
      );
      pair.atServer[Symbol.dispose]();
      server.requests.end();
      assert.deepEqual(
        server.told.map(({ cookie, status }) => [cookie, status]),
        [0, 1, 2, 3].map((cookie) => [cookie, 'lost']),
      );
    }));

  it('drops completions of queue pairs that have ended, and gives their numbers to nobody before', () =>
    simulate(async (sim) => {
      const { hosts, engines } = twoEngines(sim, { entries: 2 * SLOTS });
      const [client, server] = [new Endpoint(engines[0]), new Endpoint(engines[1])];
      const pair = await connectEndpoints(hosts, [client, server], 1);
      for (let i = 0; i < 4; i += 1) client.receive(pair.atClient.qp, i);
      fail(pair.atClient.qp);
      pair.atClient[Symbol.dispose]();
      client.requests.end();
      assert.equal(client.told.length, 4);
      // The other flushed completions lie in the queue. They are dropped, since it has no room for more requests.
      assert.equal(engines[0].progress(1), 1);
      const next = new Endpoint(engines[0]);
      assert.equal(engines[0].cq.cqe, 2 * SLOTS);
      const numbers = Array.from({ length: 2 * SLOTS }, (_, i) => next.requests.expect(i));
      assert.equal(engines[0].progress(), 0);
      assert.deepEqual([next.told.length, engines[0].statistics.unexpected], [0, 4]);
      for (const number of numbers) next.requests.forget(number);
    }));

  it('goes on where it was when it is held again', () =>
    simulate(async (sim) => {
      const { hosts, engines } = twoEngines(sim);
      const clients: Endpoint[] = [];
      const connections = [];
      for (let port = 1; port <= 10; port += 1) {
        const [client, server] = [new Endpoint(engines[0]), new Endpoint(engines[1])];
        const { atClient } = await connectEndpoints(hosts, [client, server], port);
        for (let i = 0; i < SLOTS; i += 1) client.receive(atClient.qp, i);
        clients.push(client);
        connections.push(atClient);
      }
      const told = (): number => clients.reduce((sum, client) => sum + client.told.length, 0);
      const hold = engines[0].hold();
      // More than a batch, in the midst of which nobody holds it any more.
      clients[3].onTold = () => hold.release();
      for (const { qp } of connections) fail(qp);
      await sim.sleep(10);
      assert.ok(told() > 0 && told() < 10 * SLOTS, `${told()} were told`);
      const again = engines[0].hold();
      await sim.sleep(1);
      assert.equal(told(), 10 * SLOTS);
      again.release();
    }));

  it('makes room for more requests in the midst of completions', () =>
    simulate(async (sim) => {
      const { hosts, engines } = twoEngines(sim, { entries: SLOTS });
      const [client, server] = [new Endpoint(engines[0], SLOTS), new Endpoint(engines[1])];
      const pair = await connectEndpoints(hosts, [client, server], 1, (qp) => {
        for (let i = 0; i < SLOTS; i += 1) server.receive(qp, i);
      });
      const sizes = new Set<number>();
      client.onTold = () => {
        client.requests.resize(2 * client.requests.limit);
        sizes.add(engines[0].cq.cqe);
      };
      for (let i = 0; i < SLOTS; i += 1) client.send(pair.atClient.qp, i);
      while (client.told.length < SLOTS) engines[0].progress();
      assert.deepEqual(succeeded(client.told), [0, 1, 2, 3, 4, 5, 6, 7]);
      assert.equal(sizes.size, SLOTS);
    }));

  it('has no more room than it was allowed', () =>
    simulate((sim) => {
      const engine = new Engine(sim.host('host').context, { entries: 4, maxEntries: 16 });
      const endpoint = new Endpoint(engine, 10);
      assert.throws(() => new Endpoint(engine, 7), { errno: 'ENOMEM' });
      assert.throws(() => endpoint.requests.resize(17), { errno: 'ENOMEM', message: /17 requests.*but for 16/ });
      endpoint.requests.resize(16);
      endpoint.requests.end();
      new Endpoint(engine, 16);
    }));

  it('tells everybody when the device is closed', () =>
    simulate(async (sim) => {
      const { hosts, engines } = twoEngines(sim);
      const client = new Endpoint(engines[0]);
      engines[0].hold();
      client.requests.expect(5);
      hosts[0].context.close();
      await new Promise(setImmediate);
      assert.deepEqual(client.told, [{ cookie: 5, status: 'lost', isReceive: false }]);
      assert.throws(() => client.requests.expect(6), { errno: 'ECANCELED' });
      assert.equal(engines[0].progress(), 0);
    }));

  it('is shared by all who ask for that of a device', () =>
    simulate((sim) => {
      const { context } = sim.host('host');
      const engine = Engine.of(context);
      assert.equal(Engine.of(context), engine);
      engine.close();
      assert.notEqual(Engine.of(context), engine);
    }));

  it('cannot be closed while requests are under way or buffers lent, and says whose', () =>
    simulate((sim) => {
      const engine = new Engine(sim.host('host').context, { name: 'the test' });
      const endpoint = new Endpoint(engine, 4, 'a tester');
      const number = endpoint.requests.expect(1);
      const lease = engine.pool.lease(100, 'somebody');
      assert.throws(() => engine.close(), {
        errno: 'EBUSY',
        message: /the test still has 1 requests of a tester, and buffers of somebody \(1, 256 bytes\)/,
      });
      endpoint.requests.forget(number);
      lease.release();
    }));
});
