import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, MwType, QpState, SendFlags, Syndrome, WcOpcode, WcStatus, WrOpcode } from '../../ibta/index.js';
import { assertCompleted, assertStatuses, dropping, Pair, type PairOptions, pattern } from './pair.js';
import { FENCED, UNSIGNALLED } from './qp.js';
import { bind, BINDABLE, incRkey, localInvalidate, window } from './windows.js';

/** BIND_MW and LOCAL_INV in the send queue: in their turn, once, and without a packet (protocol/reliable.md 2.7, protocol/services.md 3.7). */

function start(options: PairOptions = {}) {
  const pair = new Pair(options);
  const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256, timeout: 8 } });
  const mr = pair.a.mrOf(pattern(4096, 1), { access: BINDABLE });
  const mw = window(pair.a, MwType.TYPE_2);
  return { pair, a, b, mr, mw, remote: pair.b.mr(4096) };
}

describe('LOCAL_INV', () => {
  it('of a window completes as LOCAL_INV of no bytes, without a packet', () => {
    const { pair, a, mr, mw } = start();
    bind(a, mw, mr, { flags: UNSIGNALLED });
    const wrId = localInvalidate(a, mw.rkey);
    pair.drive();
    const completions = a.sent();
    assertCompleted(completions, [wrId]);
    assert.deepEqual([completions[0].opcode, completions[0].byteLen], [WcOpcode.LOCAL_INV, 0]);
    assert.deepEqual(pair.wire, []);
  });

  it('frees a window of type 2, which can then be bound again, with the same key as well', () => {
    for (const next of [incRkey, (rkey: number) => rkey]) {
      const { pair, a, mr, mw } = start();
      const wrIds = [bind(a, mw, mr), localInvalidate(a, mw.rkey), bind(a, mw, mr, { newRkey: next(mw.rkey) })];
      pair.drive();
      assertCompleted(a.sent(), wrIds);
    }
  });

  it('waits until all before it is complete, and holds up what is behind it', () => {
    const { pair, a, mr, mw, remote } = start();
    const read = a.read(pair.a.mr(4096), remote);
    bind(a, mw, mr, { flags: UNSIGNALLED });
    const invalidate = localInvalidate(a, mw.rkey);
    const write = a.write(mr, remote);
    pair.script = ({ isReadResponse }) => (isReadResponse ? 'drop' : 'pass');
    pair.run(500);
    assert.deepEqual(a.sent(), []);
    assert.deepEqual(
      pair.fromA(({ name }) => name.startsWith('RC_WRITE')),
      [],
    );
    pair.script = undefined;
    pair.drive();
    assertCompleted(a.sent(), [read, invalidate, write]);
  });

  const faults: Readonly<Record<string, (world: ReturnType<typeof start>) => number>> = {
    'a key that nothing has': () => 0x7777_7700,
    'a window that is free': ({ mw }) => mw.rkey,
    'another tag of a bound window': ({ a, mw, mr }) => {
      bind(a, mw, mr, { flags: UNSIGNALLED });
      return incRkey(mw.rkey);
    },
    'a window of type 1': ({ pair, a, mr }) => {
      const first = window(pair.a, MwType.TYPE_1);
      bind(a, first, mr, { flags: UNSIGNALLED });
      return first.rkey;
    },
    'a window that is bound on another QP': ({ pair, mw, mr }) => {
      bind(pair.connect().a, mw, mr);
      pair.drive();
      return mw.rkey;
    },
    'a window of another protection domain': ({ pair }) =>
      window(pair.a, MwType.TYPE_2, pair.a.nic.control.allocPd()).rkey,
    'a window that was invalidated before': ({ a, mr, mw }) => {
      bind(a, mw, mr, { flags: UNSIGNALLED });
      localInvalidate(a, mw.rkey, { flags: UNSIGNALLED });
      return mw.rkey;
    },
    'a region': ({ pair }) => pair.a.mr(8).rkey,
    'a region that lets no peer in': ({ mr }) => mr.rkey,
    'a region with a window': ({ a, mr, mw }) => {
      bind(a, mw, mr, { flags: UNSIGNALLED });
      return mr.rkey;
    },
    'another tag of a region': ({ mr }) => incRkey(mr.rkey),
    'a region of another protection domain': ({ pair }) => pair.a.mr(8, { pd: pair.a.nic.control.allocPd() }).rkey,
    'the L_Key of a region': ({ mr }) => mr.lkey,
  };
  for (const [name, fault] of Object.entries(faults)) {
    it(`of ${name} fails with MW_BIND_ERR, signalled or not`, () => {
      const world = start();
      const { pair, a, mr, remote } = world;
      const before = a.write(mr, remote);
      const rkey = fault(world);
      const wrId = localInvalidate(a, rkey, { flags: UNSIGNALLED });
      const behind = a.write(mr, remote);
      pair.drive();
      const completions = a.sent();
      assertStatuses(completions, [
        [before, WcStatus.SUCCESS],
        [wrId, WcStatus.MW_BIND_ERR],
        [behind, WcStatus.WR_FLUSH_ERR],
      ]);
      const { opcode, vendorErr, detail } = completions[1];
      assert.deepEqual([opcode, vendorErr, detail[0]], [WcOpcode.LOCAL_INV, Syndrome.LOCAL_INVALIDATE, rkey | 0]);
      assert.equal(a.state, QpState.ERR);
    });
  }
});

describe('a request without packets', () => {
  it('completes in its turn: after what is before it, before what is behind it', () => {
    const { pair, a, mr, mw, remote } = start();
    const wrIds = [
      a.write(mr, remote),
      bind(a, mw, mr),
      a.write(mr, remote),
      localInvalidate(a, mw.rkey),
      a.write(mr, remote),
    ];
    pair.drive();
    assertCompleted(a.sent(), wrIds);
  });

  it('is carried out though what is before it was not acknowledged', () => {
    const { pair, a, b, mr, mw, remote } = start();
    pair.script = ({ from }) => (from === pair.b.ip ? 'drop' : 'pass');
    a.write(mr, remote);
    bind(a, mw, mr);
    pair.run(20);
    assert.deepEqual(a.sent(), []);
    // The key works already: the peer may have been told by another way.
    pair.script = undefined;
    const write = b.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [remote.sge(0, 8)], ...mw.at(mr.addr) });
    pair.drive();
    assertCompleted(b.sent(), [write]);
  });

  it('with a fence waits for the READ before it', () => {
    const { pair, a, b, mr, mw, remote } = start();
    pair.script = ({ isReadResponse }) => (isReadResponse ? 'drop' : 'pass');
    a.read(pair.a.mr(64), remote);
    bind(a, mw, mr, { flags: FENCED });
    const early = b.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [remote.sge(0, 8)], ...mw.at(mr.addr) });
    pair.run(100);
    assertStatuses(b.sent(), [[early, WcStatus.REM_ACCESS_ERR]]);
  });

  it('in a queue of nothing else completes at once, as many as there are', () => {
    const { pair, a, mr, mw } = start();
    const wrIds: bigint[] = [];
    for (let i = 0; i < 32; i += 1) wrIds.push(bind(a, mw, mr), localInvalidate(a, mw.rkey));
    pair.turn();
    pair.turn();
    assertCompleted(a.sent(), wrIds);
    assert.equal(a.sq.inUse, 0);
  });

  it('is not begun in SQD', () => {
    const { pair, a, mr, mw } = start();
    a.modify({ qpState: QpState.SQD });
    const wrId = bind(a, mw, mr);
    pair.drive();
    assert.deepEqual(a.sent(), []);
    a.modify({ qpState: QpState.RTS });
    pair.drive();
    assertCompleted(a.sent(), [wrId]);
  });

  it('posted in ERR is flushed, with its own opcode', () => {
    const { pair, a, mr, mw } = start();
    a.modify({ qpState: QpState.ERR });
    const wrIds = [bind(a, mw, mr), localInvalidate(a, mw.rkey)];
    pair.drive();
    const completions = a.sent();
    assertStatuses(
      completions,
      wrIds.map((wrId) => [wrId, WcStatus.WR_FLUSH_ERR]),
    );
    assert.deepEqual(
      completions.map(({ opcode }) => opcode),
      [WcOpcode.BIND_MW, WcOpcode.LOCAL_INV],
    );
  });

  it('does not look at inline data or pieces that its entry may name', () => {
    const { pair, a, mr, mw } = start();
    const flags = SendFlags.SIGNALED | SendFlags.INLINE;
    const wrIds = [
      bind(a, mw, mr, { flags }),
      localInvalidate(a, mw.rkey, { sgList: [{ addr: 0n, length: 8, lkey: 1 }] }),
    ];
    pair.drive();
    assertCompleted(a.sent(), wrIds);
  });
});

describe('going back', () => {
  it('over a bind sends again what is around it, and does not bind again', () => {
    const { pair, a, mr, mw, remote } = start();
    // A second bind would fail: a window of type 2 is bound from the free state only.
    pair.script = dropping(({ from }) => from === pair.a.ip, 1, 2, 5);
    const wrIds = [a.write(mr, remote), bind(a, mw, mr), a.write(mr, remote)];
    pair.drive();
    assertCompleted(a.sent(), wrIds);
    assert.ok(pair.a.nic.counters.retransmittedPkts > 0);
  });

  it('over a window that was bound and invalidated does neither again', () => {
    const { pair, a, b, mr, mw, remote } = start();
    const first = a.write(mr, remote);
    bind(a, mw, mr, { flags: UNSIGNALLED });
    const stale = mw.rkey;
    pair.script = dropping(({ from }) => from === pair.b.ip, 1);
    const wrIds = [first, localInvalidate(a, stale), bind(a, mw, mr), a.write(mr, remote)];
    pair.drive();
    assertCompleted(a.sent(), wrIds);
    const good = b.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [remote.sge(0, 8)], ...mw.at(mr.addr) });
    const bad = b.post({
      opcode: WrOpcode.RDMA_WRITE,
      sgList: [remote.sge(0, 8)],
      remoteAddr: mr.addr,
      rkey: stale | 0,
    });
    pair.drive();
    assertStatuses(b.sent(), [
      [good, WcStatus.SUCCESS],
      [bad, WcStatus.REM_ACCESS_ERR],
    ]);
  });

  it('and an acknowledgement that overtakes it retire a bind at the end of the queue only once', () => {
    for (const lost of [1, 2, 3, 4, 5, 6]) {
      const { pair, a, mr, mw, remote } = start();
      pair.script = dropping(() => true, lost, lost + 2);
      const wrIds = [a.write(mr, remote, { sgList: [mr.sge(0, 600)] }), bind(a, mw, mr)];
      pair.run(400);
      wrIds.push(a.write(mr, remote, { sgList: [mr.sge(0, 300)] }), localInvalidate(a, mw.rkey));
      pair.drive();
      assertCompleted(a.sent(), wrIds);
      assert.equal(a.sq.inUse, 0);
    }
  });

  it('after an RNR NAK does not bind again', () => {
    const { pair, a, b, mr, mw } = start();
    const target = pair.b.mr(4096);
    const wrIds = [a.send(mr), bind(a, mw, mr), a.send(mr)];
    pair.run(2000);
    b.recv(target);
    pair.run(2000);
    b.recv(target);
    pair.drive();
    assertCompleted(a.sent(), wrIds);
    assert.ok(pair.a.nic.counters.rcvdRnrErr > 0);
  });

  it('whatever the network loses, doubles and reorders, binds and invalidates each time once', () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const conditions = { loss: 0.1, duplication: 0.1, reordering: 0.1 };
      const { pair, a, b, mr, mw, remote } = start({ network: { seed, capture: false, conditions } });
      const wrIds: bigint[] = [];
      for (let round = 0; round < 60; round += 1) {
        const size = 1 + ((round * 397 + seed) % 3000);
        wrIds.push(bind(a, mw, mr), a.write(mr, remote, { sgList: [mr.sge(0, size)] }));
        if (round % 3 === 0) wrIds.push(a.read(mr, remote, { sgList: [mr.sge(0, size)] }));
        wrIds.push(localInvalidate(a, mw.rkey));
        if (a.sq.room < 8) pair.drive({ until: () => a.sq.room >= 40 });
      }
      pair.drive();
      assertCompleted(a.sent(), wrIds);
      assert.equal(b.state, QpState.RTS, `seed ${String(seed)}`);
    }
  });
});
