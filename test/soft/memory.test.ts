import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AccessFlags, alloc, type RegistrableMemory, SendFlags, WcStatus, WrOpcode } from '../../src/index.js';
import { ALL_ACCESS, drainOne, HOSTINGS, makeSide, openContexts, Pair, pattern } from './support/pair.js';
import { NET } from '../support/loopback.js';

const { SIGNALED } = SendFlags;

// Node has it; its type declarations for Node leave it out.
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: {
    Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer; grow(pages: number): number };
  };
};

const kinds: readonly [string, () => RegistrableMemory][] = [
  ['an ArrayBuffer', () => new ArrayBuffer(5000)],
  ['a SharedArrayBuffer', () => new SharedArrayBuffer(5000)],
  ['a Buffer of its own', () => Buffer.alloc(5000)],
  ['a small Buffer out of the pool', () => Buffer.from('x'.repeat(100))],
  ['a typed array small enough for V8’s heap', () => new Uint8Array(32)],
  ['a view of part of a buffer', () => new Float64Array(new ArrayBuffer(8192), 1024, 500)],
  ['a DataView', () => new DataView(new ArrayBuffer(256), 7, 100)],
  ['memory from alloc()', () => alloc(10_000)],
  ['memory of WebAssembly', () => new WebAssembly.Memory({ initial: 1 }).buffer],
];

for (const hosting of HOSTINGS) {
  describe(`memory, hosted ${hosting}`, () => {
    for (const [name, make] of kinds) {
      test(`is written and read where it lies: ${name}`, () => {
        using pair = new Pair(hosting, NET);
        const { a, b } = pair;
        const memory = make();
        using mr = b.pd.regMr(memory, ALL_ACCESS);
        assert.equal(mr.length, memory.byteLength);
        const length = Math.min(mr.length, 4000);
        const rdma = { remoteAddr: mr.addr, rkey: mr.rkey };
        a.mr.bytes.set(pattern(length));
        a.qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SIGNALED, sgList: [a.mr.sge(0, length)], rdma });
        assert.equal(drainOne(a.cq).status, WcStatus.SUCCESS);
        const bytes = ArrayBuffer.isView(memory)
          ? new Uint8Array(memory.buffer, memory.byteOffset, length)
          : new Uint8Array(memory, 0, length);
        assert.deepEqual(bytes, pattern(length));
        a.qp.postSend({ opcode: WrOpcode.RDMA_READ, sendFlags: SIGNALED, sgList: [a.mr.sge(8000, length)], rdma });
        assert.equal(drainOne(a.cq).status, WcStatus.SUCCESS);
        assert.deepEqual(a.mr.bytes.subarray(8000, 8000 + length), a.mr.bytes.subarray(0, length));
      });
    }

    test('that is registered cannot be transferred away', () => {
      using pair = new Pair(hosting, NET);
      const { a, b } = pair;
      const memory = new ArrayBuffer(4096);
      using mr = b.pd.regMr(memory, ALL_ACCESS);
      try {
        structuredClone(memory, { transfer: [memory] });
      } catch (error) {
        // Node 20 copies instead, later versions refuse.
        assert.ok(error instanceof DOMException);
      }
      a.mr.bytes.set([9, 8, 7]);
      const rdma = { remoteAddr: mr.addr, rkey: mr.rkey };
      a.qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SIGNALED, sgList: [a.mr.sge(0, 3)], rdma });
      assert.equal(drainOne(a.cq).status, WcStatus.SUCCESS);
      assert.deepEqual([...new Uint8Array(memory, 0, 3)], [9, 8, 7]);
    });

    test('that has vanished nevertheless is refused, and closed to the peer', () => {
      using pair = new Pair(hosting, NET);
      const { a, b } = pair;
      const wasm = new WebAssembly.Memory({ initial: 1 });
      const mr = b.pd.regMr(wasm.buffer, ALL_ACCESS);
      // Takes the memory away from under every view of it.
      wasm.grow(1);
      assert.throws(() => mr.sge(0, 8), { errno: 'EFAULT' });
      const rdma = { remoteAddr: mr.addr, rkey: mr.rkey };
      a.qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SIGNALED, sgList: [a.mr.sge(0, 8)], rdma });
      assert.equal(drainOne(a.cq).status, WcStatus.REM_ACCESS_ERR);
      mr.dereg();
    });

    test('that could vanish is refused at once', () => {
      const contexts = openContexts(hosting, NET);
      const { pd } = makeSide(contexts[0]);
      const Resizable = ArrayBuffer as unknown as new (length: number, options: object) => ArrayBuffer;
      const resizable = new Resizable(64, { maxByteLength: 128 });
      assert.throws(() => pd.regMr(resizable), { errno: 'EINVAL', message: /resizable/ });
      const detached = new ArrayBuffer(64);
      const view = new Uint8Array(detached);
      structuredClone(detached, { transfer: [detached] });
      assert.throws(() => pd.regMr(detached), { errno: 'EINVAL' });
      assert.throws(() => pd.regMr(view), { errno: 'EINVAL' });
      for (const context of contexts) context.close();
    });

    test('can be registered twice, each time with keys of its own', () => {
      using pair = new Pair(hosting, NET);
      const { pd } = pair.a;
      const memory = Buffer.alloc(64);
      using first = pd.regMr(memory, AccessFlags.LOCAL_WRITE);
      using second = pd.regMr(memory, AccessFlags.LOCAL_WRITE);
      assert.equal(first.addr, second.addr);
      assert.notEqual(first.lkey, second.lkey);
      assert.notEqual(first.rkey, second.rkey);
    });

    test('is no longer touched once it is deregistered', () => {
      using pair = new Pair(hosting, NET);
      const { a, b } = pair;
      const { addr: remoteAddr, rkey } = b.mr;
      b.mr.dereg();
      a.qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sgList: [a.mr.sge(0, 8)], rdma: { remoteAddr, rkey } });
      assert.equal(drainOne(a.cq).status, WcStatus.REM_ACCESS_ERR);
    });
  });
}

test('access flags that make no sense are refused', () => {
  using pair = new Pair('simulated', NET);
  const { pd } = pair.a;
  const memory = new ArrayBuffer(8);
  assert.throws(() => pd.regMr(memory, AccessFlags.REMOTE_WRITE), { errno: 'EINVAL' });
  pd.regMr(memory, AccessFlags.ON_DEMAND | AccessFlags.HUGETLB).dereg();
  assert.throws(() => pd.regMr(memory, 1 << 15), { errno: 'EINVAL' });
  assert.throws(() => pd.regMr(new ArrayBuffer(0)), { errno: 'EINVAL' });
  using mr = pd.regMr(memory, AccessFlags.RELAXED_ORDERING);
  assert.equal(mr.length, 8);
  assert.throws(() => mr.sge(4, 5), { errno: 'EINVAL' });
  assert.throws(() => mr.sge(-1), { errno: 'EINVAL' });
});

describe('alloc()', () => {
  test('aligns to a page, or as asked', () => {
    using pair = new Pair('inline', NET);
    for (const [bytes, align] of [
      [alloc(100), 4096],
      [alloc(1, { align: 64 }), 64],
      [alloc(100_000, { align: 65536 }), 65536],
    ] as const) {
      using mr = pair.a.pd.regMr(bytes);
      assert.equal(mr.addr % BigInt(align), 0n);
    }
  });

  test('refuses lengths and alignments that are none', () => {
    for (const length of [0, -1, 1.5, NaN, 2 ** 60]) assert.throws(() => alloc(length), { name: 'VerbsError' });
    for (const align of [0, 3, 1.5, 2 ** 30]) assert.throws(() => alloc(8, { align }), { errno: 'EINVAL' });
  });
});
