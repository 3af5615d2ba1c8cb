import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AccessFlags, Mtu, MwType, QpState, WcOpcode, WcStatus, WrOpcode } from '../../ibta/index.js';
import type { TestMr } from './host.js';
import { assertCompleted, assertRefused, assertStatuses, Pair, pattern } from './pair.js';
import { type TestQp, UNSIGNALLED } from './qp.js';
import { bind, BINDABLE, incRkey, REMOTE_ALL, type TestMw, window } from './windows.js';

/** What a bound window opens, to whom, and for how long (protocol/services.md 3.7). */

const { REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC, ZERO_BASED } = AccessFlags;
const SIZE = 1200;
const TYPES = [MwType.TYPE_1, MwType.TYPE_2];

/** A region of `b` without any remote access, a window on it, and a connection. */
function start(type: MwType) {
  const pair = new Pair();
  const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
  const local = pair.a.mrOf(pattern(SIZE, 1));
  const mr = pair.b.mrOf(pattern(SIZE, 2), { access: BINDABLE });
  return { pair, a, b, local, mr, mw: window(pair.b, type) };
}

function bound(type: MwType, options: Parameters<typeof bind>[3] = {}) {
  const world = start(type);
  const wrId = bind(world.b, world.mw, world.mr, options);
  world.pair.drive();
  assertCompleted(world.b.sent(), [wrId]);
  return world;
}

type World = ReturnType<typeof start>;

function expect({ pair, a }: Pick<World, 'pair' | 'a'>, wrId: bigint, status: WcStatus): void {
  pair.drive();
  assertStatuses(a.sent(), [[wrId, status]]);
}

const OPERATIONS: readonly (readonly [
  string,
  number,
  (qp: TestQp, local: TestMr, mw: TestMw, addr: bigint) => bigint,
])[] = [
  [
    'WRITE',
    REMOTE_WRITE,
    (qp, local, mw, addr) => qp.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge(0, 8)], ...mw.at(addr) }),
  ],
  [
    'READ',
    REMOTE_READ,
    (qp, local, mw, addr) => qp.post({ opcode: WrOpcode.RDMA_READ, sgList: [local.sge(0, 8)], ...mw.at(addr) }),
  ],
  [
    'atomic',
    REMOTE_ATOMIC,
    (qp, local, mw, addr) =>
      qp.post({ opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, sgList: [local.sge(0, 8)], compareAdd: 1n, ...mw.at(addr) }),
  ],
];

describe('binding', () => {
  for (const type of TYPES) {
    it(`a window of type ${String(type)} completes as BIND_MW of no bytes, without a packet`, () => {
      const { pair, b, mw, mr } = start(type);
      const wrId = bind(b, mw, mr);
      pair.drive();
      const [completion, ...others] = b.sent();
      assert.deepEqual(others, []);
      assert.deepEqual(
        [completion.wrId, completion.status, completion.opcode, completion.byteLen, completion.qpNum],
        [wrId, WcStatus.SUCCESS, WcOpcode.BIND_MW, 0, b.qpn],
      );
      assert.deepEqual(pair.wire, []);
    });

    it(`a window of type ${String(type)} unsignalled leaves no completion`, () => {
      const { pair, b, mw, mr } = start(type);
      bind(b, mw, mr, { flags: UNSIGNALLED });
      pair.drive();
      assert.deepEqual(b.sent(), []);
      assert.equal(b.sq.inUse, 0);
    });
  }

  it('leaves the index of the key as it is, and takes any tag', () => {
    for (const tag of [0, 1, 0x80, 0xff]) {
      const { pair, a, b, local, mr, mw } = start(MwType.TYPE_2);
      bind(b, mw, mr, { newRkey: ((mw.rkey & 0xffffff00) | tag) >>> 0 });
      pair.drive();
      const wrId = a.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge()], ...mw.at(mr.addr) });
      expect({ pair, a }, wrId, WcStatus.SUCCESS);
      assert.deepEqual(mr.bytes, local.bytes);
    }
  });

  it('takes hold before the next request of the queue is sent', () => {
    const { pair, a, b, local, mr, mw } = start(MwType.TYPE_1);
    const other = pair.b.mr(8);
    const told = pair.a.mr(8);
    a.recv(told);
    bind(b, mw, mr);
    b.send(other);
    pair.drive({ until: () => a.received().length === 1 });
    const wrId = a.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge()], ...mw.at(mr.addr) });
    expect({ pair, a }, wrId, WcStatus.SUCCESS);
  });
});

describe('a window that is not bound', () => {
  for (const type of TYPES) {
    it(`opens nothing (type ${String(type)})`, () => {
      const { pair, a, local, mr, mw } = start(type);
      const wrId = a.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge()], ...mw.at(mr.addr) });
      expect({ pair, a }, wrId, WcStatus.REM_ACCESS_ERR);
      assert.deepEqual(mr.bytes, pattern(SIZE, 2));
    });
  }
});

describe('a bound window', () => {
  for (const type of TYPES) {
    for (const [name, access, post] of OPERATIONS) {
      it(`of type ${String(type)} lets a ${name} through that it allows, though the region allows peers nothing`, () => {
        const { pair, a, local, mr, mw } = bound(type, { access });
        expect({ pair, a }, post(a, local, mw, mr.addr + 16n), WcStatus.SUCCESS);
      });

      it(`of type ${String(type)} refuses a ${name} that it does not allow`, () => {
        const { pair, a, local, mr, mw } = bound(type, { access: REMOTE_ALL & ~access });
        expect({ pair, a }, post(a, local, mw, mr.addr + 16n), WcStatus.REM_ACCESS_ERR);
        assert.deepEqual(mr.bytes, pattern(SIZE, 2));
      });

      it(`of type ${String(type)} refuses a ${name} outside of it, though inside the region`, () => {
        // The window has bytes 96 to 199; operands of atomics are aligned.
        for (const place of name === 'atomic' ? [88n, 200n, 304n] : [89n, 95n, 193n, 300n]) {
          const { pair, a, local, mr, mw } = bound(type, { offset: 96, length: 104 });
          expect({ pair, a }, post(a, local, mw, mr.addr + place), WcStatus.REM_ACCESS_ERR);
        }
      });
    }

    it(`of type ${String(type)} gives all of its range, and the bytes beside it stay`, () => {
      const { pair, a, local, mr, mw } = bound(type, { offset: 100, length: 1000 });
      const wrId = a.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge(0, 1000)], ...mw.at(mr.addr + 100n) });
      expect({ pair, a }, wrId, WcStatus.SUCCESS);
      assert.deepEqual(mr.bytes.subarray(100, 1100), local.bytes.subarray(0, 1000));
      assert.deepEqual(mr.bytes.subarray(0, 100), pattern(SIZE, 2).subarray(0, 100));
      assert.deepEqual(mr.bytes.subarray(1100), pattern(SIZE, 2).subarray(1100));
    });

    it(`of type ${String(type)} is not opened by a key with another tag`, () => {
      const { pair, a, local, mr, mw } = bound(type);
      const wrId = a.post({
        opcode: WrOpcode.RDMA_WRITE,
        sgList: [local.sge()],
        remoteAddr: mr.addr,
        rkey: incRkey(mw.rkey) | 0,
      });
      expect({ pair, a }, wrId, WcStatus.REM_ACCESS_ERR);
    });

    it(`of type ${String(type)} lets nobody of another protection domain in`, () => {
      const { pair, local, mr, mw } = bound(type);
      const other = pair.connect({ qpB: { pd: pair.b.nic.control.allocPd() } });
      const wrId = other.a.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge()], ...mw.at(mr.addr) });
      expect({ pair, a: other.a }, wrId, WcStatus.REM_ACCESS_ERR);
      assert.deepEqual(mr.bytes, pattern(SIZE, 2));
    });

    it(`of type ${String(type)} is no key for local use`, () => {
      const { pair, b, mr, mw } = bound(type);
      const wrId = b.post({ opcode: WrOpcode.SEND, sgList: [{ addr: mr.addr, length: 8, lkey: mw.rkey | 0 }] });
      pair.drive();
      assertStatuses(b.sent(), [[wrId, WcStatus.LOC_PROT_ERR]]);
    });

    it(`of type ${String(type)} takes a READ and a WRITE of no bytes at any address`, () => {
      const { pair, a, mw } = bound(type, { offset: 100, length: 10 });
      const wrIds = [WrOpcode.RDMA_READ, WrOpcode.RDMA_WRITE].map((opcode) => a.post({ opcode, ...mw.at(5n) }));
      pair.drive();
      assertCompleted(a.sent(), wrIds);
    });

    it(`of type ${String(type)} is closed by dealloc`, () => {
      const { pair, a, local, mr, mw } = bound(type);
      mw.dealloc();
      const wrId = a.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge()], ...mw.at(mr.addr) });
      expect({ pair, a }, wrId, WcStatus.REM_ACCESS_ERR);
    });

    it(`of type ${String(type)} holds its region: neither deregistered nor changed`, () => {
      const { pair, mr, mw } = bound(type);
      const { control } = pair.b.nic;
      assertRefused('EBUSY', () => control.deregMr(mr.handle));
      assertRefused('EBUSY', () => control.reregMr({ handle: mr.handle, access: BINDABLE }));
      mw.dealloc();
      control.reregMr({ handle: mr.handle, access: BINDABLE });
      control.deregMr(mr.handle);
    });
  }

  it('of type 1 serves every QP of the protection domain', () => {
    const { pair, local, mr, mw } = bound(MwType.TYPE_1);
    const other = pair.connect();
    const wrId = other.a.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge()], ...mw.at(mr.addr) });
    expect({ pair, a: other.a }, wrId, WcStatus.SUCCESS);
    assert.deepEqual(mr.bytes, local.bytes);
  });

  it('of type 1 outlives the QP on which it was bound', () => {
    const { pair, b, local, mr, mw } = bound(MwType.TYPE_1);
    pair.b.nic.control.destroyQp(b.qpn);
    const other = pair.connect();
    const wrId = other.a.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge()], ...mw.at(mr.addr) });
    expect({ pair, a: other.a }, wrId, WcStatus.SUCCESS);
  });

  it('of type 2 serves no other QP, whatever the operation, and stays as it is', () => {
    for (const [, , post] of OPERATIONS) {
      const { pair, a, local, mr, mw } = bound(MwType.TYPE_2);
      const other = pair.connect();
      expect({ pair, a: other.a }, post(other.a, local, mw, mr.addr), WcStatus.REM_ACCESS_ERR);
      assert.deepEqual(mr.bytes, pattern(SIZE, 2));
      expect({ pair, a }, post(a, local, mw, mr.addr), WcStatus.SUCCESS);
    }
  });

  it('of type 2 is free again once its QP is destroyed', () => {
    const { pair, b, local, mr, mw } = bound(MwType.TYPE_2);
    pair.b.nic.control.destroyQp(b.qpn);
    pair.b.nic.control.reregMr({ handle: mr.handle, access: BINDABLE });
    const other = pair.connect();
    const wrId = bind(other.b, mw, mr);
    const write = other.a.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge()], ...mw.at(mr.addr) });
    pair.drive();
    assertCompleted(other.b.sent(), [wrId]);
    assertCompleted(other.a.sent(), [write]);
  });

  it('of type 2 can be zero-based: its addresses are offsets', () => {
    const { pair, a, local, mr, mw } = bound(MwType.TYPE_2, {
      offset: 200,
      length: 100,
      access: REMOTE_ALL | ZERO_BASED,
    });
    const wrId = a.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge(0, 90)], ...mw.at(10n) });
    expect({ pair, a }, wrId, WcStatus.SUCCESS);
    assert.deepEqual(mr.bytes.subarray(210, 300), local.bytes.subarray(0, 90));
    assert.deepEqual(mr.bytes.subarray(300), pattern(SIZE, 2).subarray(300));
    const beyond = a.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge(0, 90)], ...mw.at(11n) });
    expect({ pair, a }, beyond, WcStatus.REM_ACCESS_ERR);
  });

  it('that is zero-based is not reached by the addresses of its region', () => {
    const { pair, a, local, mr, mw } = bound(MwType.TYPE_2, { access: REMOTE_ALL | ZERO_BASED });
    const wrId = a.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge(0, 8)], ...mw.at(mr.addr) });
    expect({ pair, a }, wrId, WcStatus.REM_ACCESS_ERR);
  });
});

describe('a window of type 1', () => {
  it('can be bound again at any time: the new key opens the new range, the old one nothing', () => {
    const { pair, a, b, local, mr, mw } = bound(MwType.TYPE_1, { length: 100 });
    const old = mw.rkey | 0;
    const wrId = bind(b, mw, mr, { offset: 600, length: 100 });
    const write = a.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge(0, 100)], ...mw.at(mr.addr + 600n) });
    pair.drive();
    assertCompleted(b.sent(), [wrId]);
    assertCompleted(a.sent(), [write]);
    assert.deepEqual(mr.bytes.subarray(600, 700), local.bytes.subarray(0, 100));
    const stale = a.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge(0, 8)], remoteAddr: mr.addr, rkey: old });
    expect({ pair, a }, stale, WcStatus.REM_ACCESS_ERR);
  });

  it('can be bound again to another region, by another QP', () => {
    const { pair, a, local, mr, mw } = bound(MwType.TYPE_1);
    const next = pair.b.mr(64, { access: BINDABLE });
    const other = pair.connect();
    bind(other.b, mw, next);
    pair.drive();
    pair.b.nic.control.deregMr(mr.handle);
    const wrId = a.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge(0, 64)], ...mw.at(next.addr) });
    expect({ pair, a }, wrId, WcStatus.SUCCESS);
    assert.deepEqual(next.bytes, local.bytes.subarray(0, 64));
  });

  it('is unbound by a bind of no bytes, which lets its region go', () => {
    const { pair, a, b, local, mr, mw } = bound(MwType.TYPE_1);
    const old = mw.rkey | 0;
    const wrId = bind(b, mw, undefined);
    pair.drive();
    assertCompleted(b.sent(), [wrId]);
    for (const rkey of [mw.rkey | 0, old]) {
      const { a: fresh } = pair.connect();
      const write = fresh.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge(0, 8)], remoteAddr: mr.addr, rkey });
      expect({ pair, a: fresh }, write, WcStatus.REM_ACCESS_ERR);
    }
    pair.b.nic.control.deregMr(mr.handle);
    assert.equal(a.state, QpState.RTS);
  });

  it('goes on though a bind of it was flushed: the program is one tag ahead then', () => {
    const { pair, b, local, mr, mw } = bound(MwType.TYPE_1);
    b.modify({ qpState: QpState.ERR });
    const flushed = bind(b, mw, mr);
    pair.drive();
    assertStatuses(b.sent(), [[flushed, WcStatus.WR_FLUSH_ERR]]);
    const other = pair.connect();
    const wrId = bind(other.b, mw, mr);
    const write = other.a.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge(0, 8)], ...mw.at(mr.addr) });
    pair.drive();
    assertCompleted(other.b.sent(), [wrId]);
    assertCompleted(other.a.sent(), [write]);
  });
});

describe('windows', () => {
  it('of no known type are not made', () => {
    const { control } = new Pair().b.nic;
    // A driver can send what no type allows.
    for (const type of [0, 3, -1]) assertRefused('EINVAL', () => control.allocMw({ pd: 1, type: type as MwType }));
  });

  it('of no protection domain are not made', () => {
    assertRefused('EINVAL', () => window(new Pair().b, MwType.TYPE_1, 999));
  });

  it('are refused with ENOMEM beyond the limit, and deallocated only once', () => {
    const { b } = new Pair({ host: { limits: { maxMw: 2 } } });
    const first = window(b, MwType.TYPE_1);
    window(b, MwType.TYPE_2);
    assertRefused('ENOMEM', () => window(b, MwType.TYPE_1));
    first.dealloc();
    assertRefused('EINVAL', () => first.dealloc());
    window(b, MwType.TYPE_1);
  });

  it('hold their protection domain', () => {
    const { b } = new Pair();
    const pd = b.nic.control.allocPd();
    const mw = window(b, MwType.TYPE_2, pd);
    assertRefused('EBUSY', () => b.nic.control.deallocPd(pd));
    mw.dealloc();
    b.nic.control.deallocPd(pd);
  });

  it('and regions share no index of a key among them', () => {
    const { b } = new Pair();
    const indexes = new Set<number>();
    for (let i = 0; i < 500; i += 1) {
      const mr = b.mr(8);
      for (const key of [mr.lkey, mr.rkey, window(b, MwType.TYPE_1).rkey]) indexes.add(key >>> 8);
    }
    assert.equal(indexes.size, 1500);
    assert.ok(!indexes.has(0));
  });
});
