import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, MwType, QpState, WcFlags, WcStatus, WrOpcode } from '../../ibta/index.js';
import type { TestMr } from './host.js';
import { assertCompleted, assertStatuses, Pair, pattern } from './pair.js';
import type { TestQp } from './qp.js';
import { bind, BINDABLE, localInvalidate, type TestMw, window } from './windows.js';

/** A window that is closed in the midst of a message closes at once: not a byte more goes through it. */

const SIZE = 256 * 400;

interface Setup {
  readonly pair: Pair;
  readonly a: TestQp;
  readonly b: TestQp;
  readonly mr: TestMr;
  readonly mw: TestMw;
}

function start(type: MwType): Setup {
  const pair = new Pair();
  const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
  const mr = pair.b.mrOf(pattern(SIZE, 2), { access: BINDABLE });
  const mw = window(pair.b, type);
  const wrId = bind(b, mw, mr);
  pair.drive();
  assertCompleted(b.sent(), [wrId]);
  return { pair, a, b, mr, mw };
}

const CLOSERS: Readonly<Record<string, readonly [types: readonly MwType[], close: (setup: Setup) => void]>> = {
  deallocation: [[MwType.TYPE_1, MwType.TYPE_2], ({ mw }) => mw.dealloc()],
  'local invalidation': [[MwType.TYPE_2], ({ b, mw }) => void localInvalidate(b, mw.rkey)],
  'a new bind': [[MwType.TYPE_1], ({ b, mw, mr }) => void bind(b, mw, mr)],
  'an unbind': [[MwType.TYPE_1], ({ b, mw }) => void bind(b, mw, undefined)],
};

for (const [name, [types, close]] of Object.entries(CLOSERS)) {
  for (const type of types) {
    describe(`${name} of a window of type ${String(type)} in the midst of`, () => {
      it('a WRITE refuses the rest', () => {
        const setup = start(type);
        const { pair, a, b, mr, mw } = setup;
        const source = pair.a.mrOf(pattern(SIZE, 1));
        const wrId = a.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [source.sge()], ...mw.at(mr.addr) });
        pair.run(12);
        assert.notDeepEqual(mr.bytes, pattern(SIZE, 2));
        close(setup);
        // Carried out with the next turn of the send queue, before another packet is looked at.
        pair.b.nic.ringDoorbells();
        pair.b.nic.transmit();
        const then = mr.bytes.slice();
        pair.drive();
        assertStatuses(a.sent(), [[wrId, WcStatus.REM_ACCESS_ERR]]);
        assert.deepEqual([a.state, b.state], [QpState.ERR, QpState.ERR]);
        assert.deepEqual(mr.bytes, then);
      });

      it('a READ refuses the rest', () => {
        const setup = start(type);
        const { pair, a, mr, mw } = setup;
        const target = pair.a.mr(SIZE);
        const wrId = a.post({ opcode: WrOpcode.RDMA_READ, sgList: [target.sge()], ...mw.at(mr.addr) });
        pair.run(12);
        close(setup);
        pair.drive();
        assertStatuses(a.sent(), [[wrId, WcStatus.REM_ACCESS_ERR]]);
        assert.notDeepEqual(target.bytes, mr.bytes);
      });
    });
  }
}

describe('SEND with Invalidate', () => {
  it('frees a window of type 2, tells its key, and it can be bound again', () => {
    const { pair, a, b, mr, mw } = start(MwType.TYPE_2);
    const { rkey } = mw;
    const received = b.postRecv();
    const sent = a.post({ opcode: WrOpcode.SEND_WITH_INV, imm: rkey | 0 });
    pair.drive();
    assertCompleted(a.sent(), [sent]);
    const completions = b.received();
    assertCompleted(completions, [received]);
    assert.deepEqual([completions[0].immData, completions[0].wcFlags & WcFlags.WITH_INV], [rkey, WcFlags.WITH_INV]);
    const again = bind(b, mw, mr);
    pair.drive();
    assertCompleted(b.sent(), [again]);
    const local = pair.a.mr(8);
    const good = a.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge()], ...mw.at(mr.addr) });
    const bad = a.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge()], remoteAddr: mr.addr, rkey: rkey | 0 });
    pair.drive();
    assertStatuses(a.sent(), [
      [good, WcStatus.SUCCESS],
      [bad, WcStatus.REM_ACCESS_ERR],
    ]);
  });

  it('behind a WRITE through the same window comes after it', () => {
    const { pair, a, b, mr, mw } = start(MwType.TYPE_2);
    const source = pair.a.mrOf(pattern(SIZE, 1));
    b.postRecv();
    const wrIds = [
      a.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [source.sge()], ...mw.at(mr.addr) }),
      a.post({ opcode: WrOpcode.SEND_WITH_INV, imm: mw.rkey | 0 }),
    ];
    pair.drive();
    assertCompleted(a.sent(), wrIds);
    assert.deepEqual(mr.bytes, source.bytes);
  });

  it('while a READ through the window is being answered ends the READ', () => {
    const { pair, a, b, mr, mw } = start(MwType.TYPE_2);
    const target = pair.a.mr(SIZE);
    b.postRecv();
    const read = a.post({ opcode: WrOpcode.RDMA_READ, sgList: [target.sge()], ...mw.at(mr.addr) });
    const invalidate = a.post({ opcode: WrOpcode.SEND_WITH_INV, imm: mw.rkey | 0 });
    pair.drive();
    assertStatuses(a.sent(), [
      [read, WcStatus.REM_ACCESS_ERR],
      [invalidate, WcStatus.WR_FLUSH_ERR],
    ]);
  });

  const refused: Readonly<Record<string, (setup: Setup) => { from: TestQp; at: TestQp; rkey: number }>> = {
    'a window of type 1': ({ pair, mr }) => {
      const { a, b } = pair.connect();
      const mw = window(pair.b, MwType.TYPE_1);
      bind(b, mw, mr);
      pair.drive();
      return { from: a, at: b, rkey: mw.rkey };
    },
    'a window that is bound on another QP': ({ pair, mw }) => {
      const { a, b } = pair.connect();
      return { from: a, at: b, rkey: mw.rkey };
    },
    'a window that is free': ({ pair, a, b }) => ({ from: a, at: b, rkey: window(pair.b, MwType.TYPE_2).rkey }),
    'another tag of the right index': ({ a, b, mw }) => ({ from: a, at: b, rkey: mw.rkey ^ 1 }),
  };
  for (const [name, choose] of Object.entries(refused)) {
    it(`of ${name} ends both sides in error, and the window stays as it was`, () => {
      const setup = start(MwType.TYPE_2);
      const { pair, a, mr, mw } = setup;
      const { from, at, rkey } = choose(setup);
      const received = at.postRecv();
      const sent = from.post({ opcode: WrOpcode.SEND_WITH_INV, imm: rkey | 0 });
      pair.drive();
      assertStatuses(at.received(), [[received, WcStatus.REM_INV_REQ_ERR]]);
      assertStatuses(from.sent(), [[sent, WcStatus.REM_ACCESS_ERR]]);
      assert.deepEqual([from.state, at.state], [QpState.ERR, QpState.ERR]);
      if (from === a) return;
      const local = pair.a.mr(8);
      const write = a.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge()], ...mw.at(mr.addr) });
      pair.drive();
      assertCompleted(a.sent(), [write]);
    });
  }
});

describe('LOCAL_INV of a window', () => {
  it('ends the copy to slow memory that is under way through it', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ a: { timeout: 8, retryCnt: 1 } });
    const mr = pair.b.mr(SIZE, { manner: { delayUs: () => 500 }, access: BINDABLE });
    const mw = window(pair.b, MwType.TYPE_2);
    bind(b, mw, mr, { flags: 0 });
    pair.drive();
    const wrId = a.write(pair.a.mrOf(pattern(SIZE)), mr, { rkey: mw.rkey });
    pair.drive({ until: () => (mr.memory?.pending ?? 0) > 0 });
    localInvalidate(b, mw.rkey);
    pair.run(50);
    assert.equal(mr.memory?.pending, 0);
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.REM_ACCESS_ERR]]);
  });
});
