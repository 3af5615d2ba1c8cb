import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { addressOf, nativeHostProblem, pin, viewOf } from '../../src/host/index.js';

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
    const host = new URL('../../src/host/index.js', import.meta.url).href;
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

/** What a transfer is answered with: Node 20 copies, later versions throw. */
function tryTo(transfer: () => unknown): void {
  try {
    transfer();
  } catch (error) {
    assert.ok(error instanceof Error && error.name === 'DataCloneError', String(error));
  }
}

describe('pin', () => {
  it('keeps a buffer from being posted away', () => {
    const buffer = new ArrayBuffer(64);
    const held = pin(buffer);
    const { port1, port2 } = new MessageChannel();
    tryTo(() => port1.postMessage(buffer, [buffer]));
    receiveMessageOnPort(port2);
    port1.close();
    assert.equal(buffer.byteLength, 64);
    assert.ok(held.isIntact());
  });

  it('keeps a buffer from being cloned away', () => {
    const buffer = new ArrayBuffer(64);
    pin(new Uint8Array(buffer, 8, 8));
    tryTo(() => structuredClone(buffer, { transfer: [buffer] }));
    assert.equal(buffer.byteLength, 64);
  });

  it('refuses transfer() until it is released', (test) => {
    if (!('transfer' in ArrayBuffer.prototype)) {
      test.skip('this Node has no ArrayBuffer.prototype.transfer');
      return;
    }
    const buffer = new ArrayBuffer(64);
    const transfer = (): unknown => Reflect.apply(Reflect.get(buffer, 'transfer') as () => unknown, buffer, []);
    const [first, second] = [pin(buffer), pin(buffer)];
    first.release();
    assert.throws(transfer, { name: 'TypeError', message: /deregister it first/ });
    second.release();
    assert.doesNotThrow(transfer);
  });

  it('refuses a resizable buffer', () => {
    // The library's types know no such buffers yet.
    const buffer = Reflect.construct(ArrayBuffer, [8, { maxByteLength: 16 }]) as ArrayBuffer;
    assert.throws(() => pin(buffer), { name: 'TypeError', message: /resizable/ });
    assert.throws(() => pin(new Uint8Array(buffer)), { name: 'TypeError', message: /resizable/ });
  });

  it('refuses a detached buffer', () => {
    const buffer = new ArrayBuffer(8);
    structuredClone(buffer, { transfer: [buffer] });
    assert.throws(() => pin(buffer), { name: 'TypeError', message: /detached/ });
  });

  it('takes an empty buffer and shared memory', () => {
    for (const memory of [new ArrayBuffer(0), new SharedArrayBuffer(8), Buffer.alloc(16)]) {
      const held = pin(memory);
      assert.ok(held.isIntact());
      held.release();
      held.release();
      assert.ok(!held.isIntact());
    }
  });

  it('notices when the memory was taken away all the same', async () => {
    const buffer = new ArrayBuffer(64);
    const held = pin(buffer);
    const stream = new ReadableStream({
      type: 'bytes',
      pull: (controller) => controller.enqueue(new Uint8Array([1])),
    });
    await stream.getReader({ mode: 'byob' }).read(new Uint8Array(buffer));
    assert.ok(!held.isIntact());
  });
});
