import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../../entry/sim.js';
import { served, text } from '../support/served.js';

describe('what a program does with its keys and values', () => {
  it('after the call changes nothing, also where they are buffers of Node', () =>
    simulate(async (sim) => {
      const { client: connected } = served(sim);
      using client = await connected('client', { window: 1 });
      const [key, value] = [Buffer.from('key'), Buffer.from('value')];
      const calls = [client.set('other', ''), client.set(key, value)];
      key.fill('x');
      value.fill('x');
      await Promise.all(calls);
      assert.deepEqual([text(await client.get('key')), await client.get('xxx')], ['value', undefined]);
    }));

  it('in shared memory is set as it was', () =>
    simulate(async (sim) => {
      const { client: connected } = served(sim);
      using client = await connected();
      const shared = new Uint8Array(new SharedArrayBuffer(4)).fill(7);
      const setting = client.set(shared, shared);
      shared.fill(1);
      await setting;
      assert.deepEqual(await client.get(Uint8Array.of(7, 7, 7, 7)), Uint8Array.of(7, 7, 7, 7));
    }));

  it('before the call, when their memory is gone, is told', () =>
    simulate(async (sim) => {
      const { client: connected } = served(sim);
      using client = await connected();
      const bytes = Uint8Array.of(1);
      structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
      await assert.rejects(client.get(bytes), { code: 'EINVAL' });
      await assert.rejects(client.set('a', bytes), { code: 'EINVAL' });
    }));
});
