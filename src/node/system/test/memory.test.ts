import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { addressOf, nativeHostProblem, viewOf } from '../index.js';

const skip = nativeHostProblem() ?? false;

describe('addressOf', { skip }, () => {
  it('gives the address at which others see the same bytes', () => {
    const memory = new Uint8Array(1000);
    viewOf(addressOf(memory), memory.length).set([1, 2, 3], 10);
    assert.deepEqual([...memory.subarray(9, 14)], [0, 1, 2, 3, 0]);
  });

  it('takes views, Buffers, DataViews and shared memory', () => {
    const plain = new ArrayBuffer(64);
    const shared = new SharedArrayBuffer(64);
    assert.equal(addressOf(new DataView(plain, 8)), addressOf(plain) + 8);
    assert.equal(addressOf(Buffer.from(plain, 16, 4)), addressOf(plain) + 16);
    assert.equal(addressOf(new Uint8Array(shared, 5)), addressOf(shared) + 5);
  });

  it('holds for arrays so small that V8 first had them inside its heap', () => {
    const small = new Uint8Array(8);
    const address = addressOf(small);
    const garbage = Array.from({ length: 20_000 }, (_, i) => new Uint8Array(64).fill(i));
    viewOf(address, 8).fill(7);
    assert.deepEqual([...small], new Array(8).fill(7));
    assert.equal(garbage.length, 20_000);
  });

  it('lets another thread write into ordinary memory', async () => {
    const memory = new Uint8Array(64);
    const source = `
      import { workerData } from 'node:worker_threads';
      const { viewOf } = await import(workerData.host);
      viewOf(workerData.address, 64).fill(9);`;
    const host = new URL('../index.js', import.meta.url).href;
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), {
      workerData: { host, address: addressOf(memory) },
    });
    await new Promise((resolve, reject) => {
      worker.once('exit', resolve);
      worker.once('error', reject);
    });
    assert.ok(memory.every((byte) => byte === 9));
  });
});
