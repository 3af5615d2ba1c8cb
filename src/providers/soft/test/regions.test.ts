import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import {
  AccessFlags,
  AdviseMrAdvice,
  AdviseMrFlags,
  alloc,
  type Mr,
  SendFlags,
  WcStatus,
  WrOpcode,
} from '../../../entry/index.js';
import { canNailDown } from '../../../node/system/index.js';
import { NET } from '../../../../test/support/loopback.js';
import { collector } from '../../../../test/support/memory.js';
import { ALL_ACCESS, drainOne, HOSTINGS, Pair, pattern } from './support/pair.js';

const { ZERO_BASED, LOCAL_WRITE, ON_DEMAND } = AccessFlags;

/** Has `a` write into a region of `b`, and gives the status. */
function write({ a }: Pair, mr: Mr, remoteAddr = mr.iova): WcStatus {
  const rdma = { remoteAddr, rkey: mr.rkey };
  a.qp.postSend({
    opcode: WrOpcode.RDMA_WRITE,
    sendFlags: SendFlags.SIGNALED | SendFlags.INLINE,
    sgList: [{ bytes: pattern(16) }],
    rdma,
  });
  return drainOne(a.cq).status;
}

for (const hosting of HOSTINGS) {
  describe(`memory regions, hosted ${hosting}`, () => {
    test('are named by the iova that was asked for', () => {
      using pair = new Pair(hosting, NET);
      const { pd } = pair.b;
      for (const iova of [0x7000_0000, 0xffff_ffff_ffff_0000n]) {
        const mr = pd.regMr(alloc(8192), ALL_ACCESS, { iova });
        assert.equal(mr.iova, BigInt(iova));
        assert.equal(BigInt(mr.sge(100).addr), BigInt(iova) + 100n);
        assert.equal(write(pair, mr, mr.iova + 4096n), WcStatus.SUCCESS);
        assert.deepEqual(mr.bytes.slice(4096, 4112), pattern(16));
        mr.dereg();
      }
    });

    test('begin at 0 when they are zero-based', () => {
      using pair = new Pair(hosting, NET);
      const mr = pair.b.pd.regMr(alloc(64), ALL_ACCESS | ZERO_BASED);
      assert.deepEqual([mr.iova, mr.sge(8).addr], [0n, 8]);
      assert.equal(write(pair, mr, 32n), WcStatus.SUCCESS);
      assert.deepEqual(mr.bytes.slice(32, 48), pattern(16));
    });

    test('move to other memory under the same keys', () => {
      using pair = new Pair(hosting, NET);
      const [before, after] = [alloc(64), alloc(128)];
      const mr = pair.b.pd.regMr(before, ALL_ACCESS);
      const { lkey, rkey } = mr;
      mr.rereg({ memory: after });
      assert.deepEqual([mr.lkey, mr.rkey, mr.length, mr.iova], [lkey, rkey, 128, mr.addr]);
      assert.equal(write(pair, mr, mr.iova + 112n), WcStatus.SUCCESS);
      assert.deepEqual(after.slice(112), pattern(16));
      assert.deepEqual(before, new Uint8Array(64));
    });

    test('let the old memory go, and hold the new, when they move', async () => {
      using pair = new Pair(hosting, NET);
      const make = (): Uint8Array => (hosting === 'thread' && !canNailDown() ? alloc(64) : new Uint8Array(64));
      const collect = collector();
      const mr = pair.b.pd.regMr(alloc(64), ALL_ACCESS);
      const used: WeakRef<ArrayBufferLike>[] = [];
      for (let move = 0; move < 3; move += 1) {
        const memory = make();
        mr.rereg({ memory });
        // As often as it takes for the NIC to keep what it has found out about it.
        for (let i = 0; i < 20; i += 1) assert.equal(write(pair, mr, mr.iova), WcStatus.SUCCESS);
        used.push(new WeakRef(memory.buffer));
        // What a WeakRef was made of stays until the turn is over.
        await setImmediate();
      }
      collect();
      assert.deepEqual(
        used.map((memory) => memory.deref() !== undefined),
        [false, false, true],
      );
    });

    test('change their rights, their name and their domain, each alone', () => {
      using pair = new Pair(hosting, NET);
      const { context, pd } = pair.b;
      const mr = pd.regMr(alloc(4096), LOCAL_WRITE);
      mr.rereg({ access: ALL_ACCESS });
      assert.equal(write(pair, mr), WcStatus.SUCCESS);
      mr.rereg({ iova: 0x10_0000 });
      assert.deepEqual([mr.iova, mr.access], [0x10_0000n, ALL_ACCESS]);
      assert.equal(write(pair, mr), WcStatus.SUCCESS);
      const other = context.allocPd();
      mr.rereg({ pd: other });
      assert.deepEqual([mr.pd, mr.iova], [other, 0x10_0000n]);
      assert.throws(() => other.dealloc(), { errno: 'EBUSY', message: /MR 0x/ });
      assert.equal(write(pair, mr), WcStatus.REM_ACCESS_ERR);
      mr.rereg({ pd });
      other.dealloc();
      mr.rereg({ access: ALL_ACCESS | ZERO_BASED });
      assert.equal(mr.iova, 0n);
      mr.rereg({ access: ALL_ACCESS });
      assert.equal(mr.iova, mr.addr);
    });

    test('stay as they are when a change is refused', () => {
      using pair = new Pair(hosting, NET);
      const { context, pd } = pair.b;
      const mr = pd.regMr(alloc(4096), ALL_ACCESS);
      const { addr, iova } = mr;
      const stranger = pair.a.context.allocPd();
      const ended = context.allocPd();
      ended.dealloc();
      for (const change of [
        {},
        { iova: iova + 1n },
        { memory: new ArrayBuffer(0) },
        { memory: alloc(4096), iova: 1 },
        { pd: stranger },
        { pd: ended },
        { access: AccessFlags.REMOTE_WRITE },
        { access: 1 << 15 },
        { iova: 0xffff_ffff_ffff_f001n },
      ])
        assert.throws(() => mr.rereg(change), { errno: 'EINVAL', call: 'ibv_rereg_mr' });
      assert.deepEqual([mr.addr, mr.iova, mr.length, mr.access, mr.pd], [addr, iova, 4096, ALL_ACCESS, pd]);
      assert.equal(write(pair, mr), WcStatus.SUCCESS);
      mr.dereg();
      assert.throws(() => mr.rereg({ access: 0 }), { errno: 'EINVAL' });
    });

    test('of nothing swallow what is received, and send zeros', () => {
      using pair = new Pair(hosting, NET);
      const { a, b } = pair;
      using nothing = b.pd.allocNullMr();
      b.qp.postRecv({ sgList: [nothing.sge(12345, 64)] });
      a.qp.postSend({ opcode: WrOpcode.SEND, sgList: [a.mr.sge(0, 64)] });
      assert.deepEqual([drainOne(b.cq).status, nothing.length], [WcStatus.SUCCESS, 0]);
      a.mr.bytes.fill(7, 0, 32);
      a.qp.postRecv({ sgList: [a.mr.sge(0, 32)] });
      b.qp.postSend({ opcode: WrOpcode.SEND, sgList: [nothing.sge(0, 32)] });
      assert.equal(drainOne(a.cq).status, WcStatus.SUCCESS);
      assert.deepEqual(a.mr.bytes.slice(0, 32), new Uint8Array(32));
      assert.throws(() => nothing.rereg({ access: 0 }), { errno: 'EINVAL', call: 'ibv_rereg_mr' });
      assert.throws(() => nothing.sge(0, -1), { errno: 'EINVAL' });
    });
  });
}

test('an iova must lie in its page as the memory does', () => {
  // Addresses of simulated devices all begin on a page.
  using pair = new Pair('inline', NET);
  const { pd } = pair.a;
  const memory = alloc(8192).subarray(100, 4196);
  const { addr } = pd.regMr(memory);
  const offset = addr & 0xfffn;
  assert.equal(pd.regMr(memory, 0, { iova: 0x5000n + offset }).iova, 0x5000n + offset);
  for (const [access, iova] of [
    [0, 0x5000n + offset + 1n],
    [0, -1],
    [0, 0.5],
    [0, 2n ** 64n - 4096n + offset],
    [ZERO_BASED, 4096],
  ] as const)
    assert.throws(() => pd.regMr(memory, access, { iova }), { errno: 'EINVAL', call: 'ibv_reg_mr' });
});

test('advice is taken about memory of the domain, and of no other', () => {
  using pair = new Pair('simulated', NET);
  const { pd, context } = pair.a;
  const mr = pd.regMr(alloc(4096), ON_DEMAND);
  pd.adviseMr(AdviseMrAdvice.PREFETCH_WRITE, AdviseMrFlags.FLUSH, [mr.sge(), mr.sge(8, 8)]);
  const call = 'ibv_advise_mr';
  const { addr, lkey } = mr.sge();
  assert.throws(() => pd.adviseMr(AdviseMrAdvice.PREFETCH, 0, []), { errno: 'EINVAL', call });
  assert.throws(() => pd.adviseMr(AdviseMrAdvice.PREFETCH, 8, [mr.sge()]), { errno: 'EINVAL', call });
  for (const piece of [
    { addr, length: 4097, lkey },
    { addr, length: 1, lkey: lkey ^ 1 },
  ])
    assert.throws(() => pd.adviseMr(AdviseMrAdvice.PREFETCH, 0, [piece]), { errno: 'EFAULT', call });
  const other = context.allocPd();
  assert.throws(() => other.adviseMr(AdviseMrAdvice.PREFETCH, 0, [mr.sge()]), { errno: 'EFAULT', call });
});
