import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connect, type KvClient } from '../../index.js';
import { Status } from '../../wire/index.js';
import { simulate, type Sim } from '../../../../entry/sim.js';
import { lyingServer } from '../support/lying-server.js';
import { hostOf, PORT } from '../support/served.js';

const MINUTE_US = 60e6;

function connected(sim: Sim, window = 4): Promise<KvClient> {
  return hostOf(sim, 'client').run(() => connect({ host: 'server', port: PORT, window }));
}

describe('a server that lies', () => {
  for (const sum of ['many', '', '0x10', '1 ', '9'.repeat(100)])
    it(`about a sum, which is '${sum}', fails the call and no other`, () =>
      simulate(async (sim) => {
        const value = new TextEncoder().encode(sum);
        await lyingServer(sim, () => ({ value }));
        using client = await connected(sim);
        await assert.rejects(client.incr('a'), { code: 'EPROTO', outcome: 'unknown' });
        assert.deepEqual(await client.get('a'), value);
      }));

  it('about where a scan goes on does not keep a client for ever', () =>
    simulate(async (sim) => {
      await lyingServer(sim, () => ({ version: 5n }));
      using client = await connected(sim);
      const isOver = new AbortController();
      void sim.sleep(MINUTE_US).then(() => isOver.abort());
      const all = async (): Promise<void> => {
        for await (const key of client.scan({ signal: isOver.signal })) assert.fail(`there is the key ${String(key)}`);
      };
      await assert.rejects(all(), { code: 'EPROTO' });
    }));

  it('about where a value is does not keep a client for ever', () =>
    simulate(async (sim) => {
      await lyingServer(sim, () => ({ status: Status.ELSEWHERE, valueBytes: 5000 }));
      using client = await connected(sim);
      await assert.rejects(client.get('a', { timeoutMs: 1000 }), { name: 'KvError', code: 'EPROTO' });
    }));

  it('by silence is given up', () =>
    simulate(async (sim) => {
      await lyingServer(sim, () => undefined);
      using client = await connected(sim);
      await assert.rejects(client.get('a'), { code: 'ETIMEDOUT', outcome: 'unknown' });
    }));

  it('by taking no requests is given up', () =>
    simulate(async (sim) => {
      await lyingServer(sim, () => undefined, 0);
      using client = await connected(sim, 1);
      await assert.rejects(client.get('a', { timeoutMs: 60_000 }), { name: 'KvError', code: 'ETIMEDOUT' });
    }));
});
