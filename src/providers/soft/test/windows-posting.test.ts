import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  AccessFlags,
  incRkey,
  type Mw,
  type MwBindInfo,
  MwType,
  type Qp,
  QpType,
  SendFlags,
  WcOpcode,
  type WcStatus as Status,
  WcStatus,
  WrOpcode,
} from '../../../entry/index.js';
import { ALL_ACCESS, connect, drainOne, HOSTINGS, type Hosting, pattern } from './support/pair.js';
import { Benches, makeQp, postError } from './support/queue-pairs.js';
import { NET } from '../../../../test/support/loopback.js';

const { SIGNALED, INLINE } = SendFlags;
const { REMOTE_WRITE, REMOTE_READ } = AccessFlags;

/** An RC connection: `owner`, on `b`, binds windows, which `peer`, on `a`, uses. */
class Connection extends Benches {
  readonly owner: Qp;
  readonly peer: Qp;

  constructor(hosting: Hosting) {
    super(hosting, NET);
    const { a, b } = this;
    this.peer = makeQp(a, QpType.RC);
    this.owner = makeQp(b, QpType.RC);
    connect(this.peer, { qpNum: this.owner.qpNum, dgid: b.context.queryGid(1, 0) });
    connect(this.owner, { qpNum: this.peer.qpNum, dgid: a.context.queryGid(1, 0) });
  }

  /** The part of the owner's region that these tests open. */
  get info(): MwBindInfo {
    const { mr } = this.b;
    return { mr, addr: mr.addr + 1024n, length: 512, mwAccessFlags: REMOTE_WRITE | REMOTE_READ };
  }

  /** How a WRITE of 16 bytes by the peer ends. */
  write(rkey: number, remoteAddr = this.b.mr.addr + 1024n): Status {
    const sgList = [this.a.mr.sge(0, 16)];
    this.peer.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SIGNALED, sgList, rdma: { remoteAddr, rkey } });
    return drainOne(this.a.cq).status;
  }
}

for (const hosting of HOSTINGS) {
  describe(`a window of type 1, hosted ${hosting}`, () => {
    test('gets its next key with the call, and opens with the completion', () => {
      using connection = new Connection(hosting);
      const { a, b, owner, info } = connection;
      const mw = b.pd.allocMw(MwType.TYPE_1);
      const before = mw.rkey;
      a.mr.bytes.set(pattern(16));
      owner.bindMw(mw, { wrId: 4, sendFlags: SIGNALED, bindInfo: info });
      assert.equal(mw.rkey, incRkey(before));
      const { wrId, status, opcode } = drainOne(b.cq);
      assert.deepEqual([wrId, status, opcode], [4n, WcStatus.SUCCESS, WcOpcode.BIND_MW]);
      assert.equal(connection.write(mw.rkey), WcStatus.SUCCESS);
      assert.deepEqual(b.mr.bytes.subarray(1024, 1040), pattern(16));
      owner.bindMw(mw, { sendFlags: SIGNALED, bindInfo: info });
      drainOne(b.cq);
      assert.equal(connection.write(incRkey(before)), WcStatus.REM_ACCESS_ERR);
    });

    test('closes when it is bound to nothing', () => {
      using connection = new Connection(hosting);
      const { b, owner, info } = connection;
      const mw = b.pd.allocMw(MwType.TYPE_1);
      owner.bindMw(mw, { sendFlags: SIGNALED, bindInfo: info });
      assert.equal(drainOne(b.cq).status, WcStatus.SUCCESS);
      assert.equal(connection.write(mw.rkey), WcStatus.SUCCESS);
      owner.bindMw(mw, { sendFlags: SIGNALED, bindInfo: {} });
      assert.equal(drainOne(b.cq).status, WcStatus.SUCCESS);
      assert.equal(connection.write(mw.rkey), WcStatus.REM_ACCESS_ERR);
    });
  });

  describe(`a window of type 2, hosted ${hosting}`, () => {
    const styles: readonly [string, (qp: Qp, mw: Mw, rkey: number, info: MwBindInfo) => void][] = [
      [
        'postSend',
        (qp, mw, rkey, bindInfo) =>
          qp.postSend({ opcode: WrOpcode.BIND_MW, sendFlags: SIGNALED, bindMw: { mw, rkey, bindInfo } }),
      ],
      [
        'the builder',
        (qp, mw, rkey, bindInfo) => {
          qp.wrStart();
          qp.wrFlags = SIGNALED;
          qp.wrBindMw(mw, rkey, bindInfo);
          qp.wrComplete();
        },
      ],
    ];
    for (const [style, bind] of styles) {
      test(`opens with the key that the request names, by ${style}, and closes by LOCAL_INV`, () => {
        using connection = new Connection(hosting);
        const { b, owner, info } = connection;
        const mw = b.pd.allocMw(MwType.TYPE_2);
        const rkey = (mw.rkey & ~0xff) | 0x5a;
        bind(owner, mw, rkey >>> 0, { ...info, mwAccessFlags: REMOTE_WRITE | AccessFlags.ZERO_BASED });
        const { status, opcode } = drainOne(b.cq);
        assert.deepEqual([status, opcode], [WcStatus.SUCCESS, WcOpcode.BIND_MW]);
        assert.equal(connection.write(rkey >>> 0, 0n), WcStatus.SUCCESS);
        if (style === 'postSend') {
          owner.postSend({ opcode: WrOpcode.LOCAL_INV, sendFlags: SIGNALED, invalidateRkey: rkey >>> 0 });
        } else {
          owner.wrStart();
          owner.wrFlags = SIGNALED;
          owner.wrLocalInv(rkey >>> 0);
          owner.wrComplete();
        }
        const closed = drainOne(b.cq);
        assert.deepEqual([closed.status, closed.opcode], [WcStatus.SUCCESS, WcOpcode.LOCAL_INV]);
        assert.equal(connection.write(rkey >>> 0, 0n), WcStatus.REM_ACCESS_ERR);
      });
    }
  });
}

describe('bindMw refuses', () => {
  type Case = readonly [name: string, errno: string, bind: (connection: Connection, mw: Mw) => void];
  const cases: readonly Case[] = [
    [
      'a window that was ended',
      'EINVAL',
      ({ owner }, mw) => {
        mw.dealloc();
        owner.bindMw(mw, { bindInfo: {} });
      },
    ],
    [
      'a region of another domain',
      'EPERM',
      ({ owner, info, b }) => owner.bindMw(b.context.allocPd().allocMw(MwType.TYPE_1), { bindInfo: info }),
    ],
    ['a QP that cannot send yet', 'EINVAL', ({ b, info }, mw) => makeQp(b, QpType.RC).bindMw(mw, { bindInfo: info })],
    [
      'an open batch',
      'EINVAL',
      ({ owner }, mw) => {
        owner.wrStart();
        owner.bindMw(mw, { bindInfo: {} });
      },
    ],
  ];
  for (const [name, errno, bind] of cases) {
    test(`${name}, and leaves the window its key`, () => {
      using connection = new Connection('simulated');
      const mw = connection.b.pd.allocMw(MwType.TYPE_1);
      const { rkey } = mw;
      assert.throws(() => bind(connection, mw), { errno, call: 'ibv_bind_mw' });
      assert.equal(mw.rkey, rkey);
    });
  }

  test('a full send queue, with ENOMEM', () => {
    using connection = new Connection('simulated');
    const { a, b } = connection;
    const owner = makeQp(b, QpType.RC, { cap: { maxSendWr: 1 } });
    const peer = makeQp(a, QpType.RC);
    connect(owner, { qpNum: peer.qpNum, dgid: a.context.queryGid(1, 0) });
    const mw = b.pd.allocMw(MwType.TYPE_1);
    // The peer is not there, so that this stays.
    owner.postSend({ opcode: WrOpcode.SEND });
    assert.throws(() => owner.bindMw(mw, { bindInfo: {} }), { errno: 'ENOMEM' });
  });
});

describe('a BIND_MW request', () => {
  test('for what the region does not allow completes with MW_BIND_ERR', () => {
    using connection = new Connection('simulated');
    const { b, owner, info } = connection;
    const mw = b.pd.allocMw(MwType.TYPE_2);
    const bindInfo = { ...info, length: 2 ** 40 };
    owner.postSend({ opcode: WrOpcode.BIND_MW, bindMw: { mw, rkey: incRkey(mw.rkey), bindInfo } });
    const wc = drainOne(b.cq);
    assert.equal(wc.status, WcStatus.MW_BIND_ERR);
    assert.match(b.context.explain(wc), /window/);
  });

  test('for a window of type 1, or of another device, is EINVAL in both styles', () => {
    using connection = new Connection('simulated');
    const { a, b, owner, info } = connection;
    for (const mw of [b.pd.allocMw(MwType.TYPE_1), a.pd.allocMw(MwType.TYPE_2)]) {
      const bindMw = { mw, rkey: mw.rkey, bindInfo: info };
      assert.equal(postError(() => owner.postSend({ opcode: WrOpcode.BIND_MW, bindMw })).errno, 'EINVAL');
      owner.wrStart();
      owner.wrBindMw(mw, mw.rkey, info);
      assert.throws(() => owner.wrComplete(), { errno: 'EINVAL' });
    }
  });
});

for (const hosting of HOSTINGS) {
  describe(`placement in the peer's memory, hosted ${hosting}`, () => {
    test('ATOMIC_WRITE puts 8 bytes, from registered memory, inline, or by the builder', () => {
      using connection = new Connection(hosting);
      const { a, b, peer } = connection;
      a.mr.bytes.set(pattern(8, 1));
      const { rkey } = b.mr;
      const rdma = (offset: bigint): { remoteAddr: bigint; rkey: number } => ({ remoteAddr: b.mr.addr + offset, rkey });
      peer.postSend([
        { opcode: WrOpcode.ATOMIC_WRITE, sgList: [a.mr.sge(0, 8)], rdma: rdma(0n) },
        {
          opcode: WrOpcode.ATOMIC_WRITE,
          sendFlags: INLINE,
          sgList: [{ bytes: pattern(4, 2) }, { bytes: pattern(4, 3) }],
          rdma: rdma(8n),
        },
      ]);
      peer.wrStart();
      peer.wrFlags = SIGNALED;
      peer.wrAtomicWrite(rkey, b.mr.addr + 16n, pattern(8, 4));
      peer.wrComplete();
      const { status, opcode } = drainOne(a.cq);
      assert.deepEqual([status, opcode], [WcStatus.SUCCESS, WcOpcode.ATOMIC_WRITE]);
      const expected = [...pattern(8, 1), ...pattern(4, 2), ...pattern(4, 3), ...pattern(8, 4)];
      assert.deepEqual([...b.mr.bytes.subarray(0, 24)], expected);
    });

    test('FLUSH completes, in both styles', () => {
      using connection = new Connection(hosting);
      const { a, b, peer, owner } = connection;
      owner.modify({ qpAccessFlags: ALL_ACCESS | AccessFlags.FLUSH_GLOBAL | AccessFlags.FLUSH_PERSISTENT });
      const rdma = { remoteAddr: b.mr.addr, rkey: b.mr.rkey };
      peer.postSend({
        wrId: 1,
        opcode: WrOpcode.FLUSH,
        sendFlags: SIGNALED,
        rdma,
        flush: { length: 4096, type: 1, level: 0 },
      });
      const first = drainOne(a.cq);
      assert.deepEqual([first.status, first.opcode], [WcStatus.SUCCESS, WcOpcode.FLUSH]);
      peer.wrStart();
      peer.wrFlags = SIGNALED;
      peer.wrFlush(b.mr.rkey, 0n, 0, 1, 1);
      peer.wrComplete();
      assert.equal(drainOne(a.cq).status, WcStatus.SUCCESS);
      peer.wrStart();
      peer.wrFlush(b.mr.rkey, b.mr.addr, 8, 2, 0);
      peer.wrComplete();
      // The region was not registered for FLUSH_PERSISTENT.
      assert.equal(drainOne(a.cq).status, WcStatus.REM_ACCESS_ERR);
    });
  });
}

test('ATOMIC_WRITE by the builder needs no inline data of the program, and no pieces', () => {
  using connection = new Connection('simulated');
  const { a, b } = connection;
  const cap = { maxSendSge: 0, maxInlineData: 0 };
  const [from, to] = [makeQp(a, QpType.RC, { cap }), makeQp(b, QpType.RC, { cap })];
  connect(from, { qpNum: to.qpNum, dgid: b.context.queryGid(1, 0) });
  connect(to, { qpNum: from.qpNum, dgid: a.context.queryGid(1, 0) });
  from.wrStart();
  from.wrFlags = SIGNALED;
  from.wrAtomicWrite(b.mr.rkey, b.mr.addr, pattern(8, 7));
  from.wrComplete();
  assert.equal(drainOne(a.cq).status, WcStatus.SUCCESS);
  assert.deepEqual(b.mr.bytes.subarray(0, 8), pattern(8, 7));
});
