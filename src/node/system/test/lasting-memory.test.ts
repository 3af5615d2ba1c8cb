import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { isResizable } from '../../../device/nic/index.js';
import { canNailDown, isShared, nailDown } from '../index.js';
import { foreign, grownWasm, THEFTS, wasmMemory } from '../../../../test/support/memory.js';

const skip = canNailDown() ? false : 'this Node cannot keep ordinary memory in place';

for (const [name, steal] of THEFTS)
  test(`memory that is nailed down cannot be taken away by ${name}`, { skip }, async () => {
    const buffer = new ArrayBuffer(64);
    assert.ok(nailDown(buffer));
    await steal(buffer).catch(() => undefined);
    assert.equal(buffer.byteLength, 64);
  });

test('memory is nailed down on a Node that can, and only there', () => {
  assert.equal(nailDown(new ArrayBuffer(8)), canNailDown());
});

test('nailing down a second time, and the pool of small Buffers, goes well', { skip }, () => {
  const buffer = new ArrayBuffer(8);
  assert.ok(nailDown(buffer) && nailDown(buffer));
  const pooled = Buffer.from('out of the pool').buffer;
  assert.ok(!isShared(pooled) && nailDown(pooled));
});

test('trying whether memory can be nailed down takes nothing away', () => {
  const buffer = new ArrayBuffer(8);
  nailDown(buffer);
  assert.equal(buffer.byteLength, 8);
});

test('memory of WebAssembly is not nailed down, and can still grow', () => {
  const memory = wasmMemory();
  assert.equal(nailDown(memory.buffer), false);
  const [before, after] = grownWasm(memory);
  assert.deepEqual([before.byteLength, after.byteLength], [0, 2 * 65536]);
});

test('memory of another realm is known for what it is', () => {
  assert.ok(isShared(foreign('new SharedArrayBuffer(8)')));
  assert.ok(!isShared(foreign('new ArrayBuffer(8)')));
  assert.ok(isResizable(foreign('new ArrayBuffer(8, { maxByteLength: 16 })')));
  assert.equal(nailDown(foreign('new ArrayBuffer(8)')), canNailDown());
});

test('a buffer that says of itself that it is not resizable is not believed', () => {
  const buffer = foreign('new ArrayBuffer(8, { maxByteLength: 16 })');
  Object.defineProperty(buffer, 'resizable', { value: false });
  assert.ok(isResizable(buffer));
  assert.equal(nailDown(buffer), false);
});

test('shared memory that grows is shared, not resizable', () => {
  const buffer = foreign('new SharedArrayBuffer(8, { maxByteLength: 16 })');
  assert.ok(isShared(buffer) && !isResizable(buffer));
});

test('what was posted to another thread cannot be nailed down', { skip }, () => {
  const buffer = new ArrayBuffer(8);
  const { port1 } = new MessageChannel();
  port1.postMessage(buffer, [buffer]);
  port1.close();
  assert.equal(nailDown(buffer), false);
});
