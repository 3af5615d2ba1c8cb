import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AccessFlags, EventType, Mtu, QpState, WcStatus, WrOpcode } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import type { MrOptions, TestMr } from './host.js';
import { assertCompleted, assertStatuses, Pair, pattern, Puppet } from './pair.js';
import type { TestQp } from './qp.js';
import type { SendRequest } from './rings.js';

/** protocol/reliable.md 2.3, row 6: key, range, access, protection domain, at the responder. */

const { LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC } = AccessFlags;
const SIZE = 600;

interface Operation {
  readonly post: (qp: TestQp, local: TestMr, remote: TestMr, over?: Partial<SendRequest>) => bigint;
  readonly needs: number;
  /** Bytes by which an address must be moved for the operation to end just past a region that it filled. */
  readonly step: bigint;
}

const OPERATIONS: Readonly<Record<string, Operation>> = {
  WRITE: { post: (qp, local, remote, over = {}) => qp.write(local, remote, over), needs: REMOTE_WRITE, step: 1n },
  READ: { post: (qp, local, remote, over = {}) => qp.read(local, remote, over), needs: REMOTE_READ, step: 1n },
  'fetch-and-add': {
    post: (qp, local, remote, over = {}) => qp.fetchAdd(local, remote, 1n, over),
    needs: REMOTE_ATOMIC,
    step: BigInt(SIZE),
  },
  'compare-and-swap': {
    post: (qp, local, remote, over = {}) => qp.compareSwap(local, remote, 0n, 1n, over),
    needs: REMOTE_ATOMIC,
    step: BigInt(SIZE),
  },
};

function start(remoteOptions: MrOptions | ((pair: Pair) => MrOptions) = {}) {
  const pair = new Pair();
  const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
  const local = pair.a.mrOf(pattern(SIZE, 1));
  const remote = pair.b.mrOf(
    pattern(SIZE, 2),
    typeof remoteOptions === 'function' ? remoteOptions(pair) : remoteOptions,
  );
  return { pair, a, b, local, remote };
}

/** Expects the one request to fail with REM_ACCESS_ERR, both QPs in ERR, and the memory as it was. */
function expectRefused({ pair, a, b, local, remote }: ReturnType<typeof start>, wrId: bigint): void {
  const before = [local.bytes.slice(), remote.bytes.slice()];
  pair.drive();
  assertStatuses(a.sent(), [[wrId, WcStatus.REM_ACCESS_ERR]]);
  assert.deepEqual([a.state, b.state], [QpState.ERR, QpState.ERR]);
  assert.deepEqual([local.bytes, remote.bytes], before);
  assert.ok(remote.canariesIntact);
  assert.deepEqual(pair.b.eventsOf(b), [EventType.QP_ACCESS_ERR]);
  assert.deepEqual(
    pair.fromB().map(({ name, psn, syndrome }) => [name, psn, syndrome]),
    [['RC_ACKNOWLEDGE', 0x1000, 0x62]],
  );
}

for (const [name, { post: operation, needs, step }] of Object.entries(OPERATIONS)) {
  describe(`a ${name} is refused with a remote access error`, () => {
    it('when no region has its key', () => {
      const world = start();
      expectRefused(world, operation(world.a, world.local, world.remote, { rkey: world.remote.rkey ^ 0x100 }));
    });

    it('when only the tag of the key is wrong', () => {
      const world = start();
      expectRefused(world, operation(world.a, world.local, world.remote, { rkey: world.remote.rkey ^ 1 }));
    });

    it('when the region belongs to another protection domain', () => {
      const world = start(({ b }) => ({ pd: b.nic.control.allocPd() }));
      expectRefused(world, operation(world.a, world.local, world.remote));
    });

    it('when the region does not allow it', () => {
      const all = LOCAL_WRITE | REMOTE_READ | REMOTE_WRITE | REMOTE_ATOMIC;
      const world = start({ access: all & ~needs });
      expectRefused(world, operation(world.a, world.local, world.remote));
    });

    it('when the region is deregistered', () => {
      const world = start();
      world.pair.b.nic.control.deregMr(world.remote.handle);
      expectRefused(world, operation(world.a, world.local, world.remote));
    });

    it('when it begins before the region', () => {
      const world = start();
      const remoteAddr = world.remote.addr - 8n;
      expectRefused(world, operation(world.a, world.local, world.remote, { remoteAddr }));
    });

    it('when it ends one byte, or one word, past the region', () => {
      const world = start();
      expectRefused(world, operation(world.a, world.local, world.remote, { remoteAddr: world.remote.addr + step }));
    });

    it('when its address is far away, also where 32-bit halves would match', () => {
      for (const distance of [1n << 32n, -(1n << 32n), 1n << 53n, 1n << 63n]) {
        const world = start();
        const remoteAddr = BigInt.asUintN(64, world.remote.addr + distance);
        expectRefused(world, operation(world.a, world.local, world.remote, { remoteAddr }));
      }
    });

    it('when its range runs over the end of the address space', () => {
      const world = start();
      expectRefused(world, operation(world.a, world.local, world.remote, { remoteAddr: 0xffffffff_fffffff8n }));
    });
  });
}

describe('a region', () => {
  it('is reachable to its first and its last byte', () => {
    const { pair, a, local, remote } = start();
    const wrIds = [
      a.write(local, remote, { sgList: [local.sge(0, 1)] }),
      a.write(local, remote, { sgList: [local.sge(1, 1)], ...remote.at(SIZE - 1) }),
      a.write(local, remote),
    ];
    pair.drive();
    assertCompleted(a.sent(), wrIds);
  });

  it('may end at the very end of the address space', () => {
    const { pair, a, local, remote } = start({ iova: 2n ** 64n - BigInt(SIZE) });
    const wrIds = [a.write(local, remote), a.read(local, remote)];
    pair.drive();
    assertCompleted(a.sent(), wrIds);
    assert.deepEqual(remote.bytes, pattern(SIZE, 1));
  });

  it('at the end of the address space is not left by a range that wraps to zero', () => {
    const { pair, a, local, remote } = start({ iova: 2n ** 64n - BigInt(SIZE) });
    const wrId = a.write(local, remote, remote.at(1));
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.REM_ACCESS_ERR]]);
    assert.ok(remote.canariesIntact);
  });

  it('may begin at address zero', () => {
    const { pair, a, local, remote } = start({ iova: 0n });
    const wrId = a.write(local, remote);
    pair.drive();
    assertCompleted(a.sent(), [wrId]);
    assert.deepEqual(remote.bytes, pattern(SIZE, 1));
  });

  it('across a 4 GiB boundary is one range', () => {
    const { pair, a, local, remote } = start({ iova: 0x1_ffff_ff00n });
    const back = pair.a.mr(SIZE);
    const wrIds = [
      a.write(local, remote),
      a.read(back, remote),
      a.write(local, remote, { ...remote.at(255), sgList: [local.sge(255, 2)] }),
    ];
    pair.drive();
    assertCompleted(a.sent(), wrIds);
    assert.deepEqual([remote.bytes, back.bytes], [pattern(SIZE, 1), pattern(SIZE, 1)]);
  });
});

describe('zero-length operations', () => {
  for (const opcode of [WrOpcode.RDMA_WRITE, WrOpcode.RDMA_READ]) {
    it(`of opcode ${String(opcode)} look at neither key nor address`, () => {
      const { pair, a } = start();
      const wrId = a.post({ opcode, rkey: 0xdeadbeef | 0, remoteAddr: 0xffffffff_ffffffffn });
      pair.drive();
      assertCompleted(a.sent(), [wrId]);
    });
  }

  it('with immediate data complete a receive whatever the key', () => {
    const { pair, a, b } = start();
    const received = b.postRecv();
    const sent = a.post({ opcode: WrOpcode.RDMA_WRITE_WITH_IMM, imm: 1, rkey: 1, remoteAddr: 1n });
    pair.drive();
    assertCompleted(a.sent(), [sent]);
    assertCompleted(b.received(), [received]);
  });
});

describe('a refused request', () => {
  it('lets those before it succeed and flushes those behind it', () => {
    const { pair, a, b, local, remote } = start();
    const posted = b.recv(pair.b.mr(10));
    const wrIds = [
      a.write(local, remote),
      a.write(local, remote, { rkey: 1 }),
      a.write(local, remote),
      a.read(local, remote),
    ];
    pair.drive();
    assertStatuses(a.sent(), [
      [wrIds[0], WcStatus.SUCCESS],
      [wrIds[1], WcStatus.REM_ACCESS_ERR],
      [wrIds[2], WcStatus.WR_FLUSH_ERR],
      [wrIds[3], WcStatus.WR_FLUSH_ERR],
    ]);
    assertStatuses(b.received(), [[posted, WcStatus.WR_FLUSH_ERR]]);
    assert.deepEqual(remote.bytes, pattern(SIZE, 1));
  });

  it('says which key and address the peer refused', () => {
    const { pair, a, local, remote } = start();
    a.write(local, remote, { rkey: 0x4711 });
    pair.drive();
    const [{ vendorErr, detail }] = a.sent();
    assert.equal(vendorErr, 4);
    assert.deepEqual(detail.slice(1, 5), [0x4711, Number(remote.addr >> 32n), Number(remote.addr & 0xffffffffn), SIZE]);
  });

  it('writes nothing when a later packet of a WRITE would leave the region', () => {
    const { pair, a, local, remote } = start();
    const wrId = a.write(local, remote, remote.at(100));
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.REM_ACCESS_ERR]]);
    assert.deepEqual(remote.bytes, pattern(SIZE, 2));
  });
});

describe('a WRITE by hand', () => {
  function puppet(length: number) {
    const peer = new Puppet({ pathMtu: Mtu.MTU_256 });
    const target = peer.host1.mr(512);
    peer.say({
      opcode: Opcode.RC_WRITE_FIRST,
      psn: 0x2000,
      reth: { va: target.addr, rkey: target.rkey, length },
      payload: pattern(256),
    });
    return { peer, target };
  }

  it('whose packets bring more than its RETH announced is refused, and the excess goes nowhere', () => {
    const { peer, target } = puppet(300);
    peer.say({ opcode: Opcode.RC_WRITE_MIDDLE, psn: 0x2001, payload: pattern(256) });
    assert.equal(peer.qp.state, QpState.ERR);
    assert.ok(target.bytes.subarray(300).every((byte) => byte === 0));
  });

  it('whose last packet brings less than its RETH announced is refused', () => {
    const { peer } = puppet(300);
    peer.say({ opcode: Opcode.RC_WRITE_LAST, psn: 0x2001, ackRequest: true, payload: pattern(43) });
    assert.equal(peer.qp.state, QpState.ERR);
    const [nak] = peer.heard();
    assert.ok(nak.syndrome === 0x61 || nak.syndrome === 0x62, nak.toString());
  });

  it('whose RETH announces more than 2^31 bytes is refused', () => {
    const peer = new Puppet({ pathMtu: Mtu.MTU_256 });
    const target = peer.host1.mr(512);
    for (const length of [2 ** 31 + 1, 2 ** 32 - 1]) {
      peer.say({
        opcode: Opcode.RC_WRITE_FIRST,
        psn: 0x2000,
        reth: { va: target.addr, rkey: target.rkey, length },
        payload: pattern(256),
      });
      assert.equal(peer.qp.state, QpState.ERR);
    }
    assert.ok(target.bytes.every((byte) => byte === 0));
  });
});
