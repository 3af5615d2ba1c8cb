import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Sim, type SimHost, simulate } from '../../../entry/sim.js';
import { connect as connectByCm } from '../../../entry/index.js';
import { Engine } from '../../core/index.js';
import { Admission } from '../../core/index.js';
import { type ConnectionHandler, connect, listen, type MessageConnection, type MessageListener } from '../index.js';
import { PORT, text, words } from './support/pair.js';

interface Served {
  readonly server: SimHost;
  readonly listener: MessageListener;
  readonly served: Promise<void>;
  /** A client that has connected, on a host of its own. */
  readonly client: (name: string) => Promise<MessageConnection>;
}

function serving(sim: Sim, handler: ConnectionHandler, maxConnections?: number): Served {
  const server = sim.host('server');
  const listener = listen({ port: PORT, context: server.context });
  const served = listener.serve(handler, { maxConnections });
  const client = async (name: string): Promise<MessageConnection> => {
    const connection = await sim.host(name).run(() => connect({ host: 'server', port: PORT, timeoutMs: 5000 }));
    // The server knows, too.
    await sim.sleep(100);
    return connection;
  };
  return { server, listener, served, client };
}

const echo: ConnectionHandler = async (connection) => {
  for await (const message of connection.messages()) await connection.send(message);
};

describe('a server that is stopped', () => {
  it('ends idle connections at once, and then serves no more', () =>
    simulate(async (sim) => {
      const { listener, served, client } = serving(sim, echo);
      const clients = [await client('a'), await client('b')];
      assert.equal(listener.connections, 2);
      await listener.stop();
      await served;
      await Promise.all(clients.map(({ closed }) => closed));
      assert.deepEqual(
        clients.map(({ failure }) => failure),
        [undefined, undefined],
      );
      assert.ok(sim.nowUs < 1_000_000, 'nobody had to be waited for');
      assert.equal(listener.connections, 0);
      await assert.rejects(client('c'), { code: 'ECONNREFUSED' });
    }));

  it('has handlers finish what they are about, and answer', () =>
    simulate(async (sim) => {
      const { listener, served, client } = serving(sim, async (connection) => {
        for await (const message of connection.messages()) {
          await sim.sleep(3_000_000);
          await connection.send(message);
        }
      });
      const asking = await client('a');
      await asking.send(text('first'));
      await asking.send(text('second'));
      const stopped = listener.stop();
      assert.equal(words(await asking.receive()), 'first');
      assert.equal(await asking.receive(), undefined);
      await Promise.all([stopped, served]);
      assert.equal(asking.failure, undefined);
    }));

  it('waits no longer than it was told to for a handler that goes on', () =>
    simulate(async (sim) => {
      let thrown: unknown;
      const { listener, served, client } = serving(sim, async (connection) => {
        await connection.closed;
        await connection.send(text('too late')).catch((error: unknown) => (thrown = error));
      });
      const waiting = await client('a');
      const sinceUs = sim.nowUs;
      await listener.stop({ timeoutMs: 2000 });
      await served;
      assert.ok(sim.nowUs - sinceUs >= 2_000_000 && sim.nowUs - sinceUs < 3_100_000);
      await waiting.closed;
      assert.equal(waiting.failure, undefined, 'it was told farewell');
      assert.match(String(thrown), /ENOTCONN|has ended/);
    }));

  it('does not wait for a client that is gone', () =>
    simulate(async (sim) => {
      const { listener, served, client, server } = serving(sim, echo);
      const gone = await client('a');
      sim.partition(sim.hosts[1]);
      const sinceUs = sim.nowUs;
      await listener.stop({ timeoutMs: 1000 });
      await served;
      assert.ok(sim.nowUs - sinceUs < 20_000_000);
      gone[Symbol.dispose]();
      assert.equal(Engine.of(server.context).pool.leased, 0);
    }));

  it('ends connections that a loop has taken, or would have', () =>
    simulate(async (sim) => {
      const server = sim.host('server');
      const listener = listen({ port: PORT, context: server.context });
      const taken: MessageConnection[] = [];
      const looping = (async () => {
        for await (const connection of listener) taken.push(connection);
      })();
      const client = await sim.host('a').run(() => connect({ host: 'server', port: PORT }));
      await sim.sleep(1000);
      await listener.stop({ timeoutMs: 0 });
      await looping;
      await client.closed;
      assert.deepEqual([taken.length, client.failure], [1, undefined]);
    }));

  it('takes no options that do not exist', () =>
    simulate(async (sim) => {
      const { listener } = serving(sim, echo);
      await assert.rejects(listener.stop({ timeoutMs: -1 }), { code: 'EINVAL' });
      await assert.rejects(listener.stop({ after: 1 } as never), /there is no 'after'/);
    }));
});

describe('options that are undefined', () => {
  it('are as if they were not there', () =>
    simulate(async (sim) => {
      const { served, listener } = serving(sim, echo, undefined);
      await sim.host('a').run(async () => {
        const nothing = { signal: undefined, timeoutMs: undefined };
        const where = { localAddress: undefined, context: undefined, open: undefined };
        const connection = await connect({ host: 'server', port: PORT, ...where, ...nothing });
        await connection.send(text('x'), nothing);
        assert.equal(words(await connection.receive(nothing)), 'x');
        await connection.close({ timeoutMs: undefined });
        await assert.rejects(connectByCm({ host: 'server', port: PORT, ...where, ...nothing }), {
          code: 'ECONNREFUSED',
        });
      });
      await listener.stop({ timeoutMs: undefined });
      await served;
    }));
});

describe('clients that begin a connection and do not complete it', () => {
  it('keep nobody out', () =>
    simulate(async (sim) => {
      const { server, listener, served, client } = serving(sim, echo, 3);
      const attackers = ['x', 'y', 'z'].map((name) => {
        const host = sim.host(name);
        // What they ask for arrives, and they never hear the answer.
        sim.cut(server, host);
        return host.run(() => connect({ host: 'server', port: PORT, timeoutMs: 60_000 })).catch(() => undefined);
      });
      await sim.sleep(500_000);
      const clients = await Promise.all([client('a'), client('b'), client('c')]);
      for (const [i, connection] of clients.entries()) {
        await connection.send(text(`${i}`));
        assert.equal(words(await connection.receive()), `${i}`);
      }
      await assert.rejects(client('d'), { code: 'EBUSY' }, 'the limit holds for those who are there');
      await Promise.all(clients.map((connection) => connection.close()));
      listener.close();
      await Promise.all([served, ...attackers]);
      assert.equal(Engine.of(server.context).pool.leased, 0);
    }));

  it('are no more than so many, also where the server has no limit', () => {
    const admission = new Admission(Infinity);
    const places = Array.from({ length: 5000 }, () => admission.enter(0)).filter((place) => place !== undefined);
    assert.equal(places.length, 1024);
    assert.equal(admission.enter(100_000), undefined);
    assert.ok(admission.enter(300_000));
    assert.deepEqual([places[0].signal.aborted, places[1].signal.aborted], [true, false]);
    for (const place of places) place.completed();
    assert.ok(admission.enter(0), 'who has completed is no longer among them');
  });

  it('make no room by ending twice', () => {
    const admission = new Admission(2);
    const [first, second] = [admission.enter(0), admission.enter(0)];
    assert.ok(first && second);
    first.completed();
    assert.equal(admission.enter(100_000), undefined);
    const third = admission.enter(300_000);
    assert.ok(third, 'in place of the second');
    second.completed();
    second[Symbol.dispose]();
    assert.equal(admission.enter(300_000), undefined);
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    assert.ok(admission.enter(300_000));
    assert.equal(admission.enter(300_000), undefined);
  });
});
