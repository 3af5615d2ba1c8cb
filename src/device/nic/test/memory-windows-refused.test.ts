import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AccessFlags,
  MwBindReason,
  MwType,
  QpState,
  Syndrome,
  WcOpcode,
  WcStatus,
  WrOpcode,
} from '../../ibta/index.js';
import type { TestMr } from './host.js';
import { assertCompleted, assertStatuses, Pair, pattern } from './pair.js';
import { UNSIGNALLED } from './qp.js';
import { bind, BINDABLE, type BindOptions, bindRequest, REMOTE_ALL, type TestMw, window } from './windows.js';

/** Binds that are refused when they are carried out (protocol/services.md 3.7): MW_BIND_ERR, and nothing has changed. */

const { LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC, MW_BIND, ZERO_BASED } = AccessFlags;
const SIZE = 4096;

interface Fault {
  readonly reason: MwBindReason;
  readonly types?: readonly MwType[];
  readonly access?: number;
  readonly options?: BindOptions;
  readonly mr?: (pair: Pair) => TestMr | undefined;
  readonly mw?: (pair: Pair) => TestMw;
}

const BOTH = [MwType.TYPE_1, MwType.TYPE_2];
const SECOND = [MwType.TYPE_2];

const FAULTS: Readonly<Record<string, Fault>> = {
  'a key that no window has': { reason: MwBindReason.WINDOW_UNKNOWN, options: { over: { rkey: 0x7777_7700 } } },
  'a window of another protection domain': {
    reason: MwBindReason.WINDOW_PD,
    mw: (pair) => window(pair.b, MwType.TYPE_1, pair.b.nic.control.allocPd()),
  },
  'a new key with another index': { reason: MwBindReason.WINDOW_KEY, options: { newRkey: 0x1234_5678 } },
  'no bytes at all': { reason: MwBindReason.NOTHING_TO_BIND, types: SECOND, options: { length: 0 } },
  'a key that no region has': {
    reason: MwBindReason.REGION_UNKNOWN,
    options: { over: { swap: (BigInt(REMOTE_READ) << 32n) | 0x7777_7700n } },
  },
  'no region': {
    reason: MwBindReason.REGION_UNKNOWN,
    options: { length: 10, over: { swap: BigInt(REMOTE_READ) << 32n } },
  },
  'a region that was deregistered': {
    reason: MwBindReason.REGION_UNKNOWN,
    mr: (pair) => {
      const mr = pair.b.mr(SIZE, { access: BINDABLE });
      pair.b.nic.control.deregMr(mr.handle);
      return mr;
    },
  },
  'a region of another protection domain': {
    reason: MwBindReason.REGION_PD,
    mr: (pair) => pair.b.mr(SIZE, { access: BINDABLE, pd: pair.b.nic.control.allocPd() }),
  },
  'a region without MW_BIND': {
    reason: MwBindReason.REGION_NOT_BINDABLE,
    access: LOCAL_WRITE | REMOTE_READ | REMOTE_WRITE | REMOTE_ATOMIC,
  },
  'a region that is zero-based': { reason: MwBindReason.REGION_ZERO_BASED, access: BINDABLE | ZERO_BASED },
  'REMOTE_WRITE on a region that is not writable': {
    reason: MwBindReason.REGION_NOT_WRITABLE,
    access: MW_BIND,
    options: { access: REMOTE_WRITE },
  },
  'REMOTE_ATOMIC on a region that is not writable': {
    reason: MwBindReason.REGION_NOT_WRITABLE,
    access: MW_BIND | REMOTE_READ,
    options: { access: REMOTE_READ | REMOTE_ATOMIC },
  },
  'a range that begins one byte before the region': {
    reason: MwBindReason.RANGE,
    options: { offset: -1, length: 10 },
  },
  'a range that ends one byte past the region': {
    reason: MwBindReason.RANGE,
    options: { offset: 1, length: SIZE },
  },
  'a range longer than 2^32 bytes': { reason: MwBindReason.RANGE, options: { length: 2n ** 32n + 1n } },
  'a range longer than 2^63 bytes': { reason: MwBindReason.RANGE, options: { length: 2n ** 64n - 1n } },
  'a range that goes round the address space': {
    reason: MwBindReason.RANGE,
    options: { over: { remoteAddr: 2n ** 64n - 1n }, length: SIZE },
  },
  'zero-based addresses': {
    reason: MwBindReason.WINDOW_ACCESS,
    types: [MwType.TYPE_1],
    options: { access: REMOTE_READ | ZERO_BASED },
  },
  'access flags that do not exist': { reason: MwBindReason.WINDOW_ACCESS, options: { access: 1 << 14 } },
};

describe('a bind is refused for', () => {
  for (const [name, fault] of Object.entries(FAULTS)) {
    for (const type of fault.types ?? BOTH) {
      it(`${name} (window of type ${String(type)})`, () => {
        const pair = new Pair();
        const { a, b } = pair.connect();
        const [local, remote] = [pair.b.mr(8), pair.a.mr(8)];
        const mr = fault.mr === undefined ? pair.b.mr(SIZE, { access: fault.access ?? BINDABLE }) : fault.mr(pair);
        const mw = fault.mw?.(pair) ?? window(pair.b, type);
        const { rkey } = mw;
        const request = bindRequest(mw, mr, fault.options);
        const before = b.write(local, remote);
        const wrId = b.post({ ...request, flags: UNSIGNALLED });
        const behind = b.write(local, remote);
        pair.drive();
        const completions = b.sent();
        assertStatuses(completions, [
          [before, WcStatus.SUCCESS],
          [wrId, WcStatus.MW_BIND_ERR],
          [behind, WcStatus.WR_FLUSH_ERR],
        ]);
        const { opcode, vendorErr, detail } = completions[1];
        assert.equal(opcode, WcOpcode.BIND_MW);
        assert.equal(vendorErr, Syndrome.MW_BIND);
        assert.equal(detail[0], request.rkey);
        assert.equal(detail[5], fault.reason);
        assert.equal(b.state, QpState.ERR);
        // The peer has heard nothing of it, and the window can be bound yet.
        assert.equal(a.state, QpState.RTS);
        if (fault.mw !== undefined) return;
        const good = pair.connect();
        mw.rkey = rkey;
        const again = bind(good.b, mw, pair.b.mr(SIZE, { access: BINDABLE }));
        pair.drive();
        assertCompleted(good.b.sent(), [again]);
      });
    }
  }

  it('a window of type 2 that is bound, which then stays as it was', () => {
    const pair = new Pair();
    const first = pair.connect();
    const other = pair.connect();
    const mr = pair.b.mr(SIZE, { access: BINDABLE });
    const mw = window(pair.b, MwType.TYPE_2);
    const local = pair.a.mrOf(pattern(8));
    bind(first.b, mw, mr);
    pair.drive();
    const { rkey } = mw;
    const wrId = bind(other.b, mw, mr);
    pair.drive();
    const [completion] = other.b.sent();
    assertStatuses([completion], [[wrId, WcStatus.MW_BIND_ERR]]);
    assert.equal(completion.detail[5], MwBindReason.WINDOW_BOUND);
    const write = first.a.write(local, mr, { rkey: rkey | 0 });
    pair.drive();
    assertCompleted(first.a.sent(), [write]);
    assert.deepEqual(mr.bytes.subarray(0, 8), local.bytes);
  });

  it('a window that was deallocated', () => {
    const pair = new Pair();
    const { b } = pair.connect();
    const mw = window(pair.b, MwType.TYPE_1);
    mw.dealloc();
    const wrId = bind(b, mw, pair.b.mr(SIZE, { access: BINDABLE }));
    pair.drive();
    assertStatuses(b.sent(), [[wrId, WcStatus.MW_BIND_ERR]]);
  });

  it('a region in place of the window', () => {
    const pair = new Pair();
    const { b } = pair.connect();
    const mr = pair.b.mr(SIZE, { access: BINDABLE });
    const wrId = bind(b, window(pair.b, MwType.TYPE_1), mr, { over: { rkey: mr.rkey | 0, imm: mr.rkey | 0 } });
    pair.drive();
    assertStatuses(b.sent(), [[wrId, WcStatus.MW_BIND_ERR]]);
  });
});

describe('a bind is not refused', () => {
  it('for remote access that its region does not allow', () => {
    for (const access of [0, REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC, REMOTE_ALL, REMOTE_ALL | BINDABLE]) {
      for (const type of BOTH) {
        const pair = new Pair();
        const { b } = pair.connect();
        const wrId = bind(b, window(pair.b, type), pair.b.mr(SIZE, { access: BINDABLE }), { access });
        pair.drive();
        assertCompleted(b.sent(), [wrId]);
      }
    }
  });

  it('for reading alone on a region that is not writable', () => {
    const pair = new Pair();
    const { a, b } = pair.connect();
    const mr = pair.b.mrOf(pattern(64), { access: MW_BIND });
    const mw = window(pair.b, MwType.TYPE_1);
    const local = pair.a.mr(64);
    bind(b, mw, mr, { access: REMOTE_READ });
    pair.drive();
    const wrId = a.post({ opcode: WrOpcode.RDMA_READ, sgList: [local.sge()], ...mw.at(mr.addr) });
    pair.drive();
    assertCompleted(a.sent(), [wrId]);
    assert.deepEqual(local.bytes, mr.bytes);
  });
});
