import assert from 'node:assert/strict';
import { it } from 'node:test';
import { VerbsError } from '../../../entry/index.js';
import { simulate } from '../../../entry/sim.js';
import { Engine, establish } from '../../core/index.js';
import { Endpoint } from '../connection/endpoint.js';
import { encodeHello, type Hello } from '../protocol/hello.js';

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
