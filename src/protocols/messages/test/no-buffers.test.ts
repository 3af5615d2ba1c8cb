import assert from 'node:assert/strict';
import { it } from 'node:test';
import { connect as connectByCm, SendFlags, VerbsError, WrOpcode } from '../../../entry/index.js';
import { simulate } from '../../../entry/sim.js';
import { type BufferPool, Engine, establish, type Lease } from '../../core/index.js';
import { Endpoint } from '../connection/endpoint.js';
import { connect, listen, type MessageConnection } from '../index.js';
import { encodeHello, type Hello } from '../protocol/hello.js';
import { Flag, immediateOf, Kind } from '../protocol/kinds.js';
import { PORT } from './support/pair.js';

const HELLO: Hello = { window: 8, maxWindow: 64, bufferBytes: 4096, maxMessageBytes: 100_000 };

it('an end for which the pool has too few buffers is refused with ENOMEM, and leaves none of them lent', () =>
  simulate(async (sim) => {
    const [server, client] = [sim.host('server'), sim.host('client')];
    const { pool } = Engine.of(client.context);
    // The engine that connections share has 256 MiB: four of the eight buffers that an end of them posts.
    Object.defineProperty(pool, 'limit', { value: 4 * 4160 });
    const listener = server.listen({ port: 7000 });
    await assert.rejects(
      client.run(() =>
        establish(
          (id) => new Endpoint(id, HELLO),
          (createQp) => client.connect({ host: 'server', port: 7000, createQp, privateData: encodeHello(HELLO) }),
          (end) => end,
        ),
      ),
      (error) => error instanceof VerbsError && error.errno === 'ENOMEM',
    );
    assert.equal(pool.leased, 0);
    listener.close();
  }));

/** Takes all buffers of a pool but so many. */
function exhaust(pool: BufferPool, left: number): void {
  const leases: Lease[] = [];
  for (const bytes of [pool.largest, 1, 4096])
    for (let lease = pool.tryLease(bytes, 'others'); lease !== undefined; lease = pool.tryLease(bytes, 'others'))
      leases.push(lease);
  for (const lease of leases.splice(leases.length - left)) lease.release();
}

for (const [what, more, isHungry] of [
  ['connects', 0, false],
  ['has its window widened', 8, true],
] as const)
  it(`a stranger that ${what} and is idle then leaves others a buffer to send with`, () =>
    simulate(async (sim) => {
      const [server, good, bad] = [sim.host('server'), sim.host('good'), sim.host('bad')];
      const listener = listen({ port: PORT, context: server.context });
      const served: MessageConnection[] = [];
      const serving = listener.serve(async (connection) => {
        served.push(connection);
        await connection.closed;
      });
      const client = await good.run(() => connect({ host: 'server', port: PORT }));
      const { pool } = Engine.of(server.context);
      exhaust(pool, pool.leased + more);
      const stranger = bad.run(() =>
        connectByCm({
          host: 'server',
          port: PORT,
          privateData: encodeHello(HELLO),
          qp: { cap: { maxSendWr: 64, maxRecvWr: 16, maxSendSge: 1, maxRecvSge: 1 } },
        }),
      );
      const connection = await stranger.catch(() => undefined);
      if (isHungry && connection !== undefined)
        for (let i = 0; i < HELLO.window - 2; i += 1) {
          const immData = immediateOf(Kind.DATA, Flag.HUNGRY, HELLO.window);
          connection.qp.postSend({
            opcode: WrOpcode.SEND_WITH_IMM,
            sendFlags: SendFlags.SIGNALED,
            immData,
            sgList: [],
          });
        }
      await sim.sleep(1_000_000);
      await served[0].send(new Uint8Array(3000), { timeoutMs: 1000 });
      assert.equal((await client.receive())?.length, 3000);
      await client.close();
      connection?.[Symbol.dispose]();
      listener.close();
      await serving;
    }));
