import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import { UcsStatus } from '../wire/index.js';
import type { UcpWorker } from '../worker/worker.js';
import { pattern } from './support/transports.js';
import { ALL_WAYS, onSelf } from './support/workers.js';

/** Nobody is told any more of what has come by now. */
async function drain(worker: UcpWorker): Promise<void> {
  await assert.rejects(
    async () => {
      for (;;) await worker.wait({ timeoutMs: 1000 });
    },
    { status: UcsStatus.UCS_ERR_TIMED_OUT, errno: 'ETIMEDOUT' },
  );
}

for (const [way, made] of Object.entries(ALL_WAYS))
  describe(`a worker whose program sleeps until something comes, on ${way}`, () => {
    for (const length of [0, 10, 5000, 100_000])
      it(`finds a message of ${length} bytes, whether it comes before or after it has looked`, () =>
        simulate(async (sim) => {
          const { server, there, close } = await made(sim);
          const find = async () => {
            for (;;) {
              const found = server.tagProbeRemove(7);
              if (found !== undefined) return found;
              await server.wait();
            }
          };
          for (const isBefore of [true, false]) {
            await drain(server);
            const finding = isBefore ? undefined : find();
            const sent = there.tagSend(pattern(length), 7);
            if (isBefore) await sim.sleep(100);
            const found = await (finding ?? find());
            assert.equal(found.length, length);
            await Promise.all([sent, server.tagMessageReceive(found, new Uint8Array(length))]);
          }
          await close();
        }));

    it('is woken by active messages, by bytes of a stream, and by the end of an endpoint', () =>
      simulate(async (sim) => {
        const { server, there, close } = await made(sim);
        server.setAmHandler(1, () => undefined);
        for (const happen of [
          () => there.amSend(1, new Uint8Array(1), new Uint8Array(0)),
          () => there.streamSend(pattern(10)),
          () => {
            there.close();
            return Promise.resolve();
          },
        ]) {
          await drain(server);
          const woken = server.wait();
          await happen();
          await woken;
        }
        await close();
      }));
  });

describe('a program that waits for what comes to its worker', () => {
  it('goes on at a signal, once, whether that comes before or while it waits', () =>
    simulate(async (sim) => {
      const { server, close } = onSelf(sim);
      await drain(server);
      const both = [server.wait(), server.wait()];
      server.signal();
      await Promise.all(both);
      await drain(server);
      server.signal();
      server.signal();
      await server.wait();
      await assert.rejects(server.wait({ timeoutMs: 1 }), { errno: 'ETIMEDOUT' });
      close();
    }));

  it('may give up, and is told when the worker is closed', () =>
    simulate(async (sim) => {
      const { server, close } = onSelf(sim);
      await drain(server);
      const controller = new AbortController();
      const given = assert.rejects(server.wait({ signal: controller.signal }), /enough/);
      controller.abort(new Error('enough'));
      await given;
      const closed = { status: UcsStatus.UCS_ERR_CANCELED };
      const waiting = assert.rejects(server.wait(), closed);
      close();
      await waiting;
      await assert.rejects(server.wait(), closed);
    }));

  it('goes on in a loop whenever something has come, until the worker is closed', () =>
    simulate(async (sim) => {
      const { server, there, close } = onSelf(sim);
      const found: number[] = [];
      const looking = (async () => {
        for await (const worker of server.wakeups()) {
          for (let next = worker.tagProbeRemove(0, 0); next !== undefined; next = worker.tagProbeRemove(0, 0)) {
            found.push(next.length);
            await worker.tagMessageReceive(next, new Uint8Array(next.length));
          }
        }
      })();
      for (const length of [3, 1, 2]) await there.tagSend(pattern(length), 1);
      await sim.sleep(10);
      assert.deepEqual(found, [3, 1, 2]);
      close();
      await looking;
    }));

  it('refuses what is no time', async () => {
    await simulate(async (sim) => {
      const { server, close } = onSelf(sim);
      await assert.rejects(server.wait({ timeoutMs: -1 }), { errno: 'EINVAL' });
      close();
    });
  });
});

it('wakes each of several loops, though one was busy when another was told', () =>
  simulate(async (sim) => {
    const { server, there, close } = onSelf(sim);
    const found: number[] = [];
    const loop = async (tag: number, busyUs: number): Promise<void> => {
      for await (const woken of server.wakeups()) {
        const message = woken.tagProbeRemove(tag);
        if (message === undefined) await sim.sleep(busyUs);
        else {
          found.push(tag);
          await woken.tagMessageReceive(message, new Uint8Array(3));
        }
      }
    };
    const loops = [loop(1, 0), loop(2, 1000)];
    server.signal();
    // By now both have looked, and the second one is busy.
    await sim.sleep(100);
    await there.tagSend(pattern(3), 2);
    await sim.sleep(100_000);
    assert.deepEqual(found, [2]);
    close();
    await Promise.all(loops);
  }));
