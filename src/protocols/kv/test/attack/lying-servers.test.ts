import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AccessFlags, alloc, WrOpcode } from '../../../../entry/index.js';
import { Engine } from '../../../core/index.js';
import { connect, type KvClient } from '../../index.js';
import { type Answered, Status } from '../../wire/index.js';
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

  const LONG = new Uint8Array(60_000);
  const ELUSIVE = { status: Status.ELSEWHERE, valueBytes: 5000 };
  for (const [what, lies, call] of [
    ['answers a long value with another epoch', [{ status: Status.EPOCH }], (client) => client.set('a', LONG)],
    ['always has a longer value', [ELUSIVE], (client) => client.get('a')],
    [
      'first has a long value, then one that nobody takes',
      [ELUSIVE, { status: Status.ELSEWHERE, valueBytes: 2 ** 31 }],
      (client) => client.get('a'),
    ],
  ] as const satisfies readonly [string, readonly Partial<Answered>[], (client: KvClient) => Promise<unknown>][])
    it(`and ${what} leaves no memory of its client registered`, () =>
      simulate(async (sim) => {
        let answers = 0;
        await lyingServer(sim, () => lies[Math.min(answers++, lies.length - 1)]);
        const client = await connected(sim);
        await assert.rejects(call(client), { name: /KvError|EpochError/ });
        client.close();
        await client.closed;
        await sim.sleep(MINUTE_US);
        Engine.of(hostOf(sim, 'client').context).close();
      }));

  it('by a WRITE that looks like a message has no old bytes of a buffer read', () =>
    simulate(async (sim) => {
      await lyingServer(sim, ({ remote }, { qp }) => {
        if (remote === undefined) return ELUSIVE;
        const { addr, lkey } = qp.pd.regMr(alloc(100), AccessFlags.LOCAL_WRITE);
        const sgList = [{ addr, lkey, length: 100 }];
        const rdma = { remoteAddr: remote.addr, rkey: remote.rkey };
        qp.postSend({ wrId: 2n, opcode: WrOpcode.RDMA_WRITE_WITH_IMM, immData: 1, sgList, rdma });
        return undefined;
      });
      using client = await connected(sim);
      await assert.rejects(client.get('a', { timeoutMs: 100 }), { code: 'ETIMEDOUT' });
      assert.deepEqual([client.statistics.foreign, client.statistics.unmatchedResponses], [1, 0]);
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
