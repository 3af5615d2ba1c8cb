import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AccessFlags, alloc, type Context, openDevice, SendFlags, WcStatus, WrOpcode } from '../../../entry/index.js';
import { SimulatedCluster } from '../../../entry/sim.js';
import { isShared } from '../../../node/system/index.js';
import { loopback, NET } from '../../../../test/support/loopback.js';
import {
  collector,
  foreign,
  isTaken,
  type Origin,
  ORIGINS,
  THEFTS,
  wasmMemory,
} from '../../../../test/support/memory.js';
import {
  ALL_ACCESS,
  connect,
  drain,
  drainOne,
  type Hosting,
  HOSTINGS,
  makeSide,
  openContexts,
  Pair,
  pattern,
  type Side,
} from './support/pair.js';

const { SIGNALED } = SendFlags;

for (const hosting of HOSTINGS) {
  describe(`memory, hosted ${hosting}`, () => {
    for (const origin of ORIGINS) {
      if (!isTaken(hosting, origin.lasting)) {
        test(`that could be taken away is refused: ${origin.name}`, () => {
          using pair = new Pair(hosting, NET);
          assert.throws(() => pair.b.pd.regMr(origin.make(), ALL_ACCESS), {
            errno: 'EOPNOTSUPP',
            message: /alloc\(\)/,
          });
        });
        continue;
      }

      test(`is written and read where it lies: ${origin.name}`, () => {
        using pair = new Pair(hosting, NET);
        const { a, b } = pair;
        const memory = origin.make();
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

    for (const origin of ORIGINS.filter((each) => each.stealable === true && isTaken(hosting, each.lasting)))
      for (const [way, steal] of THEFTS)
        test(`is not touched once it was taken away by ${way}, or cannot be: ${origin.name}`, async () => {
          using pair = new Pair(hosting, NET);
          const { a, b } = pair;
          const mr = b.pd.regMr(origin.make(), ALL_ACCESS);
          const { length } = mr;
          mr.bytes.fill(1);
          a.mr.bytes.fill(2);
          const { buffer } = mr.bytes;
          assert.ok(!isShared(buffer));
          const thief = await steal(buffer).catch(() => undefined);
          const theirs = thief instanceof ArrayBuffer ? new Uint8Array(thief.slice(0)) : new Uint8Array();
          const rdma = { remoteAddr: mr.addr, rkey: mr.rkey };
          a.qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SIGNALED, sgList: [a.mr.sge(0, length)], rdma });
          const gone = mr.bytes.length === 0;
          assert.equal(drainOne(a.cq).status, gone ? WcStatus.REM_ACCESS_ERR : WcStatus.SUCCESS);
          if (thief instanceof ArrayBuffer) assert.deepEqual(new Uint8Array(thief), theirs);
          assert.equal(mr.length, length);
          if (gone) assert.throws(() => mr.sge(0, 8), { errno: 'EFAULT' });
          else assert.ok(mr.bytes.every((byte) => byte === 2));
          mr.dereg();
        });

    if (hosting !== 'thread')
      test('that WebAssembly has moved is refused, and closed to the peer', () => {
        using pair = new Pair(hosting, NET);
        const { a, b } = pair;
        const wasm = wasmMemory();
        const mr = b.pd.regMr(wasm.buffer, ALL_ACCESS);
        // Takes the memory away from under every view of it.
        wasm.grow(1);
        assert.throws(() => mr.sge(0, 8), { errno: 'EFAULT' });
        const rdma = { remoteAddr: mr.addr, rkey: mr.rkey };
        a.qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SIGNALED, sgList: [a.mr.sge(0, 8)], rdma });
        assert.equal(drainOne(a.cq).status, WcStatus.REM_ACCESS_ERR);
        mr.dereg();
      });

    for (const kind of ['SharedArrayBuffer', 'WebAssembly'])
      test(`that grows stays the region it was: shared memory of ${kind}`, () => {
        using pair = new Pair(hosting, NET);
        const { a, b } = pair;
        const wasm = wasmMemory(true);
        const growable = foreign('new SharedArrayBuffer(4096, { maxByteLength: 1 << 20 })');
        const memory = kind === 'WebAssembly' ? wasm.buffer : growable;
        const mr = b.pd.regMr(memory, ALL_ACCESS);
        const { length } = mr;
        if (kind === 'WebAssembly') wasm.grow(1);
        else Reflect.apply(Reflect.get(growable, 'grow') as () => unknown, growable, [1 << 20]);
        assert.equal(mr.length, length);
        const remoteAddr = mr.addr + BigInt(length) - 8n;
        for (const [bytes, status] of [
          [8, WcStatus.SUCCESS],
          [9, WcStatus.REM_ACCESS_ERR],
        ] as const) {
          const rdma = { remoteAddr, rkey: mr.rkey };
          a.qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SIGNALED, sgList: [a.mr.sge(0, bytes)], rdma });
          assert.equal(drainOne(a.cq).status, status);
        }
      });

    test('that is shared is reached where it lies, also in what it has grown by', () => {
      using pair = new Pair(hosting, NET);
      const { a, b } = pair;
      const growable = foreign('new SharedArrayBuffer(4096, { maxByteLength: 1 << 20 })');
      const write = (offset: number, length: number, seed: number): void => {
        using mr = b.pd.regMr(new Uint8Array(growable, offset, length), ALL_ACCESS);
        const content = pattern(length).map((byte) => byte ^ seed);
        a.mr.bytes.set(content);
        const rdma = { remoteAddr: mr.addr, rkey: mr.rkey };
        a.qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SIGNALED, sgList: [a.mr.sge(0, length)], rdma });
        assert.equal(drainOne(a.cq).status, WcStatus.SUCCESS);
        assert.deepEqual(new Uint8Array(growable, offset, length), content);
      };
      write(0, 4096, 1);
      write(1001, 95, 2);
      Reflect.apply(Reflect.get(growable, 'grow') as () => unknown, growable, [1 << 20]);
      write((1 << 20) - 3001, 3001, 3);
      write(1001, 95, 4);
    });

    // Made-up addresses are by what memory says of its length, and it cannot say both.
    if (hosting !== 'simulated')
      test('that can shrink is refused, also where it says that it is shared', () => {
        using pair = new Pair(hosting, NET);
        const memory = new Uint8Array(foreign('new ArrayBuffer(4096, { maxByteLength: 8192 })'));
        Reflect.setPrototypeOf(memory.buffer, SharedArrayBuffer.prototype);
        assert.throws(() => pair.b.pd.regMr(memory, ALL_ACCESS), { errno: 'EINVAL', message: /shrinks/ });
      });

    test('stays as long as the device, though the program has forgotten both', () => {
      const [near, far] = forgettableContexts(hosting);
      const a = makeSide(near);
      const regions = forget(
        a,
        far(),
        ORIGINS.filter((each) => isTaken(hosting, each.lasting)),
      );
      const collect = collector();
      for (let round = 0; round < 3; round += 1) {
        collect();
        for (const { rkey, remoteAddr, length, ofBuffer } of regions) {
          // As long as what would be free now.
          const others = Array.from({ length: 100 }, () => new Uint8Array(new ArrayBuffer(ofBuffer)));
          a.mr.bytes.set(pattern(length, round));
          const rdma = { remoteAddr, rkey };
          const write = { opcode: WrOpcode.RDMA_WRITE, sendFlags: SIGNALED, sgList: [a.mr.sge(0, length)], rdma };
          a.qp.postSend(write);
          a.qp.postSend({ ...write, opcode: WrOpcode.RDMA_READ, sgList: [a.mr.sge(8192, length)] });
          for (const { status } of drain(a.cq, 2)) assert.equal(status, WcStatus.SUCCESS);
          assert.deepEqual(a.mr.bytes.subarray(8192, 8192 + length), pattern(length, round));
          assert.ok(others.every((bytes) => bytes.every((byte) => byte === 0)));
        }
      }
      near.close();
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
      const memory = alloc(64);
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

/** Two contexts, of which the second is made by whoever will forget it. It stays open at addresses of its own. */
function forgettableContexts(hosting: Hosting): [Context, () => Context] {
  const addresses = [loopback(10 + HOSTINGS.indexOf(hosting)), loopback(20 + HOSTINGS.indexOf(hosting))];
  const cluster = new SimulatedCluster({ seed: 1 });
  const open = (address: string): Context =>
    hosting === 'simulated' ? cluster.open(address) : openDevice({ host: hosting, address });
  return [open(addresses[0]), () => open(addresses[1])];
}

interface Forgotten {
  readonly rkey: number;
  readonly remoteAddr: bigint;
  readonly length: number;
  readonly ofBuffer: number;
}

/** Registers memory at a peer of `a`. Nobody keeps anything of that but the names. */
function forget(a: Side, context: Context, origins: readonly Origin[]): Forgotten[] {
  const b = makeSide(context);
  connect(a.qp, { qpNum: b.qp.qpNum, dgid: context.queryGid(1, 0) });
  connect(b.qp, { qpNum: a.qp.qpNum, dgid: a.context.queryGid(1, 0) });
  return origins.map((origin) => {
    const { rkey, addr, length, bytes } = b.pd.regMr(origin.make(), ALL_ACCESS);
    return { rkey, remoteAddr: addr, length: Math.min(length, 4096), ofBuffer: bytes.buffer.byteLength };
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
