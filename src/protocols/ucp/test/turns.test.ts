import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Sim, type SimHost, simulate } from '../../../entry/sim.js';
import { Engine } from '../../core/index.js';
import type { UcpEndpoint } from '../worker/endpoint.js';
import { UcpWorker } from '../worker/worker.js';
import { Turns } from '../../../../test/support/turns.js';
import { pattern, PORT } from './support/transports.js';

const HEADER = pattern(20);
const MESSAGES = 5;

interface Server {
  readonly host: SimHost;
  readonly worker: UcpWorker;
  readonly endpoints: UcpEndpoint[];
}

/** A worker that listens in the context `listener`, and whose handlers belong to `server`. */
function serve(sim: Sim, turns: Turns, transport: 'rc' | 'ud'): Server {
  const host = sim.host('server');
  const worker = turns.as('server', () => new UcpWorker(host.context, { transport }));
  const endpoints: UcpEndpoint[] = [];
  turns.as('listener', () =>
    worker.listen(
      {
        port: PORT,
        accept: () => {
          turns.enter('accept', 'listener');
          return true;
        },
      },
      (endpoint) => {
        turns.enter('endpoint', 'listener');
        endpoints.push(endpoint);
      },
    ),
  );
  return { host, worker, endpoints };
}

interface Client {
  readonly host: SimHost;
  readonly worker: UcpWorker;
  readonly there: UcpEndpoint;
}

async function connect(sim: Sim, turns: Turns, name: string, transport: 'rc' | 'ud'): Promise<Client> {
  const host = sim.host(name);
  return turns.as(name, async () => {
    const worker = new UcpWorker(host.context, { transport });
    const there = await host.run(() => worker.connect({ host: 'server', port: PORT }));
    return { host, worker, there };
  });
}

describe('callbacks of workers have turns of their own, in the context of their worker or listener', () => {
  for (const transport of ['rc', 'ud'] as const) {
    it(`by ${transport}: of connections, and active messages`, () =>
      simulate(async (sim) => {
        const turns = new Turns();
        const { worker, endpoints } = serve(sim, turns, transport);
        const clients = await Promise.all(['alice', 'bob'].map((name) => connect(sim, turns, name, transport)));
        await sim.sleep(1000);
        turns.check({ accept: 2, endpoint: 2 });
        const got: Uint8Array[] = [];
        worker.setAmHandler(1, ({ header, data, replyEndpoint }) => {
          turns.enter('question', 'server');
          got.push(header.slice(), data.slice());
          for (let i = 0; i < 2; i += 1) void replyEndpoint?.amSend(2, HEADER, pattern(100));
        });
        clients.forEach((client, i) =>
          client.worker.setAmHandler(2, turns.callback('answer', i === 0 ? 'alice' : 'bob')),
        );
        await turns.as('sender', () =>
          Promise.all(
            clients.flatMap(({ there }) =>
              Array.from({ length: MESSAGES }, (_, i) => there.amSend(1, HEADER, pattern(50 + i, i), { reply: true })),
            ),
          ),
        );
        await sim.sleep(10_000);
        turns.check({ accept: 2, endpoint: 2, question: 2 * MESSAGES, answer: 4 * MESSAGES });
        assert.ok(
          got.every(
            (bytes, i) => Buffer.compare(bytes, i % 2 === 0 ? HEADER : pattern(bytes.length, bytes.length - 50)) === 0,
          ),
        );
        assert.deepEqual([worker.amBytes, endpoints.length], [0, 2]);
      }));

    it(`by ${transport}: of messages that come in parts, and of announced ones`, () =>
      simulate(async (sim) => {
        const turns = new Turns();
        const { worker } = serve(sim, turns, transport);
        const { there } = await connect(sim, turns, 'alice', transport);
        const got: Promise<void>[] = [];
        worker.setAmHandler(1, (message) => {
          turns.enter('message', 'server');
          const buffer = new Uint8Array(message.length);
          got.push(
            message
              .keep()
              .receive(buffer)
              .then(() => assert.deepEqual(buffer, pattern(buffer.length))),
          );
        });
        const sent = [10, 20_000, 10, 50_000, 10].flatMap((bytes) =>
          (['eager', 'rendezvous'] as const).map((protocol) => there.amSend(1, HEADER, pattern(bytes), { protocol })),
        );
        await sim.sleep(100_000);
        await Promise.all([...sent, ...got]);
        turns.check({ accept: 1, endpoint: 1, message: 10 });
        assert.equal(worker.amBytes, 0);
      }));

    it(`by ${transport}: of endpoints that fail, which hear of the messages before first`, () =>
      simulate(async (sim) => {
        const turns = new Turns();
        const { worker, endpoints } = serve(sim, turns, transport);
        const clients = await Promise.all(['alice', 'bob'].map((name) => connect(sim, turns, name, transport)));
        await sim.sleep(1000);
        worker.setAmHandler(1, turns.callback('message', 'server'));
        for (const endpoint of endpoints) endpoint.setErrorHandler(turns.callback('error', 'listener'));
        await Promise.all(
          clients.flatMap(({ there }) => Array.from({ length: MESSAGES }, () => there.amSend(1, HEADER, pattern(10)))),
        );
        await Promise.all(clients.map(({ there }) => there.flushAndClose()));
        await sim.sleep(100_000);
        turns.check({ accept: 2, endpoint: 2, message: 2 * MESSAGES, error: 2 });
        assert.deepEqual(turns.seen.slice(-1), ['error']);
      }));
  }

  it('by self: of active messages', () =>
    simulate(async (sim) => {
      const turns = new Turns();
      const worker = turns.as('alone', () => new UcpWorker(sim.host('alone').context));
      const endpoint = worker.connectToSelf();
      let left = MESSAGES;
      worker.setAmHandler(1, () => {
        turns.enter('message', 'alone');
        if (left > 0) void endpoint.amSend(1, HEADER, pattern(10));
        left -= 1;
      });
      for (let i = 0; i < MESSAGES; i += 1) void endpoint.amSend(1, HEADER, pattern(10));
      await sim.sleep(1000);
      turns.check({ message: 2 * MESSAGES });
    }));

  it('and those that wait when their endpoint is closed, or their handler taken away, are not called', () =>
    simulate(async (sim) => {
      const turns = new Turns();
      const { host, worker, endpoints } = serve(sim, turns, 'rc');
      const { there } = await connect(sim, turns, 'alice', 'rc');
      await sim.sleep(1000);
      worker.setAmHandler(1, () => {
        turns.enter('message', 'server');
        worker.setAmHandler(1, undefined);
      });
      for (let i = 0; i < MESSAGES; i += 1) void there.amSend(1, HEADER, pattern(10_000), { protocol: 'rendezvous' });
      await sim.sleep(10_000);
      turns.check({ accept: 1, endpoint: 1, message: 1 });
      assert.deepEqual([worker.amsDropped, worker.amBytes], [MESSAGES - 1, 0]);
      worker.setAmHandler(1, () => {
        turns.enter('last', 'server');
        endpoints[0].close();
      });
      for (let i = 0; i < MESSAGES; i += 1) there.amSend(1, HEADER, pattern(10)).catch(() => undefined);
      await sim.sleep(100_000);
      turns.check({ accept: 1, endpoint: 1, message: 1, last: 1 });
      assert.equal(worker.amBytes, 0);
      worker.close();
      assert.equal(Engine.of(host.context).pool.leased, 0);
    }));
});
