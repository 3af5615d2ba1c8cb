import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import { Turns } from '../../../../test/support/turns.js';
import { connect, listen, type XioSession } from '../index.js';

describe('handlers of sessions', () => {
  it('are each called after the ticks and microtasks of the one before, in the async context of their server or session', () =>
    simulate(async (sim) => {
      const [server, client] = [sim.host('server'), sim.host('client')];
      const storage = new AsyncLocalStorage<string>();
      const seen: string[] = [];
      let isWithin = false;
      const serving = await storage.run('server', () =>
        server.run(() => listen({ port: 2061, context: server.context })),
      );
      const sessions: XioSession[] = [];
      const accept = async (): Promise<void> => {
        for await (const session of serving) {
          sessions.push(session);
          session.on('request', () => {
            seen.push(`request in ${storage.getStore() ?? 'none'}${isWithin ? ', early' : ''}`);
            isWithin = true;
            process.nextTick(() =>
              queueMicrotask(() =>
                process.nextTick(() => {
                  isWithin = false;
                }),
              ),
            );
            return {};
          });
        }
      };
      const accepting = accept();
      const clients = await Promise.all(
        ['alice', 'bob'].map((name) =>
          storage.run(name, async () => {
            const session = await client.run(() => connect(`rdma://server:2061`));
            session.on('close', () => seen.push(`close in ${storage.getStore() ?? 'none'}`));
            return session;
          }),
        ),
      );
      await Promise.all(clients.flatMap((session) => [1, 2, 3].map(() => session.request())));
      assert.deepEqual(
        seen,
        Array.from({ length: 6 }, () => 'request in server'),
      );
      seen.splice(0);
      await Promise.all(clients.map((session) => session.close()));
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      assert.deepEqual(seen.sort(), ['close in alice', 'close in bob']);
      await serving.stop();
      await accepting;
    }));

  it('hear that their requesters have given up, in turns of their own and in the async context of the server', () =>
    simulate(async (sim) => {
      const turns = new Turns();
      const [server, client] = [sim.host('server'), sim.host('client')];
      const onBody = (): undefined => {
        turns.enter('body', 'server');
      };
      const serving = await turns.as('server', () =>
        server.run(() => listen({ port: 2061, context: server.context, onBody })),
      );
      const accept = async (): Promise<void> => {
        for await (const session of serving) {
          session.on('close', turns.callback('close', 'server'));
          session.on('request', (request) => {
            turns.enter('request', 'server');
            return new Promise((resolve) => {
              request.signal.addEventListener('abort', () => {
                turns.enter('abort', 'server');
                resolve({});
              });
            });
          });
        }
      };
      const accepting = accept();
      const session = await turns.as('client', () => client.run(() => connect('rdma://server:2061')));
      const over = new AbortController();
      const requests = Array.from({ length: 4 }, (_, i) =>
        session.request(undefined, i === 0 ? new Uint8Array(20_000) : undefined, { signal: over.signal }),
      );
      const ended = Promise.allSettled(requests);
      await sim.sleep(10_000);
      over.abort();
      await ended;
      await sim.sleep(10_000);
      turns.check({ body: 1, request: 4, abort: 4 });
      await session.close();
      await sim.sleep(10_000);
      turns.check({ body: 1, request: 4, abort: 4, close: 1 });
      await serving.stop();
      await accepting;
    }));

  it('have all requests that came before the end of their session, which loops over messages hear of after them', () =>
    simulate(async (sim) => {
      const [server, client] = [sim.host('server'), sim.host('client')];
      const serving = await server.run(() => listen({ port: 2061, context: server.context }));
      const accepted = serving[Symbol.asyncIterator]().next();
      const connecting = client.run(() => connect('rdma://server:2061'));
      const { value: atServer } = await accepted;
      assert.ok(atServer);
      const seen: string[] = [];
      atServer.on('request', () => {
        seen.push('request');
        return {};
      });
      atServer.on('close', () => seen.push('close'));
      const reading = (async () => {
        for await (const message of atServer.messages()) message.release();
      })().catch(() => seen.push('failure'));
      const session = await connecting;
      server.pause();
      const requests = Promise.allSettled(Array.from({ length: 20 }, () => session.request()));
      await sim.sleep(20);
      session.abort();
      await sim.sleep(100);
      server.resume();
      await Promise.all([requests, reading]);
      await sim.sleep(1000);
      assert.deepEqual(seen.slice(20).sort(), ['close', 'failure']);
      assert.deepEqual([...new Set(seen.slice(0, 20))], ['request']);
      await serving.stop();
    }));
});
