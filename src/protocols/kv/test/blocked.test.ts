import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate, type Sim } from '../../../entry/sim.js';
import { type KvClient, type KvServer, serve, type TransportName } from '../index.js';

import { Played, written } from './gateway/support/play.js';
import { newStore, PORT, type Served, served, text } from './support/served.js';

/** One message for each answer: more than a turn of the event loop reads. */
const WINDOW = 1024;
const VALUE = 'v'.repeat(2000);
const KEYS = Array.from({ length: WINDOW }, (_, i) => `key ${i}`);

const VALUES = KEYS.map((key) => `${key} ${VALUE}`);

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** The programs of all hosts block their event loop; the NICs go on. */
function block(sim: Sim, us: number): void {
  sim.run(sim.nowUs + us);
}

/** Lets turns of the event loop pass, and nothing else, until the server has executed so many requests. */
async function executed(server: KvServer, requests: number): Promise<void> {
  while (server.statistics.requests < requests) await turn();
}

async function answered(sim: Sim, transport: TransportName): Promise<Served & { client1: KvClient }> {
  const all = served(sim, { store: newStore(1 << 23), maxWindow: WINDOW }, { transport, window: WINDOW });
  const client1 = await all.client();
  await client1.setMany(KEYS.map((key, i) => ({ key, value: VALUES[i] })));
  return { ...all, client1 };
}

for (const transport of ['rc', 'uc', 'ud'] as const)
  describe(`programs that block the event loop, by ${transport}`, () => {
    it('take no server for silent whose answer waits', () =>
      simulate(async (sim) => {
        const { client1: client, server } = await answered(sim, transport);
        const before = server.statistics.requests;
        const asked = client.get('key 1');
        await executed(server, before + 1);
        block(sim, 12e6);
        assert.equal(text(await asked), `key 1 ${VALUE}`);
        assert.deepEqual([client.failure, client.statistics.resumptions], [undefined, 0]);
        client.close();
        server.close();
      }));

    it('forget no client whose request waits', () =>
      simulate(async (sim) => {
        const { client, server } = served(sim, { maxSilenceMs: 15_000 }, { transport });
        const alive = await client();
        await alive.set('a', '1');
        await sim.sleep(9e6);
        const asked = alive.get('a');
        // The request leaves in a microtask.
        await Promise.resolve();
        block(sim, 20e6);
        assert.equal(text(await asked), '1');
        assert.deepEqual([alive.failure, server.statistics.clients], [undefined, 1]);
        alive.close();
        server.close();
      }));
  });

describe('answers that have come', () => {
  /** A server is replaced by another while the client has not read the answers of the first, and time passes while it reads. */
  async function replaced(sim: Sim, ask: (client: KvClient) => Promise<void>): Promise<void> {
    const { client1: client, server, host } = await answered(sim, 'rc');
    const before = server.statistics.requests;
    const done = ask(client);
    await executed(server, before + WINDOW);
    block(sim, 1000);
    server.close();
    using again = serve({ store: newStore(), port: PORT, context: host.context });
    block(sim, 1000);
    for (let i = 0; i < 100; i += 1) {
      await turn();
      block(sim, 1000);
    }
    await done;
    assert.equal(client.failure?.code, 'ECONNRESET');
    assert.equal(again.statistics.requests, 0);
    client.close();
  }

  it('resolve their calls before the client learns that the server has gone', () =>
    simulate((sim) =>
      replaced(sim, async (client) => {
        const values = await client.getMany(KEYS);
        assert.deepEqual(values.map(text), VALUES);
      }),
    ));

  it('are sent by a gateway before the failure of its client', () =>
    simulate((sim) =>
      replaced(sim, async (client) => {
        const played = new Played(client, { maxUnderWay: 2 * WINDOW, maxUnsentBytes: 1 << 24, maxArgumentBytes: 8192 });
        played.say(...KEYS.map((key) => written('GET', key)));
        await client.closed;
        await turn();
        played.say(written('GET', 'a'));
        await turn();
        const lines = played.sent.split('\r\n').filter((line) => !line.startsWith('$'));
        assert.deepEqual(lines.slice(0, WINDOW), VALUES);
        assert.match(lines[WINDOW], /^-ERR /);
      }),
    ));
});
