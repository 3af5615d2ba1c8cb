import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AccessFlags, Mtu, QpState, WcStatus, WrOpcode } from '../../ibta/index.js';
import type { TestHost, TestMr } from './host.js';
import { assertStatuses, Pair, pattern } from './pair.js';
import type { Sge } from './rings.js';

/** protocol/reliable.md 2.10: LOC_PROT_ERR. A scatter/gather entry must lie in a region of the QP's PD with the access needed. */

const SIZE = 300;
const READ_ONLY = AccessFlags.REMOTE_READ;

type Fault = (host: TestHost) => { sge: Sge; mr: TestMr };

const FAULTS: Readonly<Record<string, Fault>> = {
  'an unknown key': (host) => {
    const mr = host.mrOf(pattern(SIZE));
    return { mr, sge: { ...mr.sge(), lkey: mr.lkey ^ 0x5500 } };
  },
  'the key of a deregistered region': (host) => {
    const mr = host.mrOf(pattern(SIZE));
    host.nic.control.deregMr(mr.handle);
    return { mr, sge: mr.sge() };
  },
  'a region of another protection domain': (host) => {
    const mr = host.mrOf(pattern(SIZE), { pd: host.nic.control.allocPd() });
    return { mr, sge: mr.sge() };
  },
  'an entry that begins before the region': (host) => {
    const mr = host.mrOf(pattern(SIZE));
    return { mr, sge: mr.sge(-1, SIZE) };
  },
  'an entry that ends after the region': (host) => {
    const mr = host.mrOf(pattern(SIZE));
    return { mr, sge: mr.sge(1, SIZE) };
  },
  'an entry that runs over the end of the address space': (host) => {
    const mr = host.mrOf(pattern(SIZE));
    return { mr, sge: { addr: 2n ** 64n - 8n, length: SIZE, lkey: mr.lkey } };
  },
};

const WRITE_FAULTS: Readonly<Record<string, Fault>> = {
  ...FAULTS,
  'a region that may not be written to': (host) => {
    const mr = host.mrOf(pattern(SIZE), { access: READ_ONLY });
    return { mr, sge: mr.sge() };
  },
};

describe('LOC_PROT_ERR ends a SEND or WRITE, and nothing leaves the host, for', () => {
  for (const [name, fault] of Object.entries(FAULTS)) {
    it(name, () => {
      for (const opcode of [WrOpcode.SEND, WrOpcode.RDMA_WRITE]) {
        const pair = new Pair();
        const { a } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
        const { sge } = fault(pair.a);
        const wrId = a.post({ opcode, sgList: [sge], ...pair.b.mr(SIZE).at(0) });
        pair.drive();
        assertStatuses(a.sent(), [[wrId, WcStatus.LOC_PROT_ERR]]);
        assert.equal(a.state, QpState.ERR);
        assert.deepEqual(pair.fromA(), []);
      }
    });
  }
});

describe('LOC_PROT_ERR ends a READ or an atomic, and no memory changes, for', () => {
  for (const [name, fault] of Object.entries(WRITE_FAULTS)) {
    it(name, () => {
      for (const opcode of [WrOpcode.RDMA_READ, WrOpcode.ATOMIC_FETCH_AND_ADD]) {
        const pair = new Pair();
        const { a } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
        const { sge, mr } = fault(pair.a);
        const read = opcode === WrOpcode.RDMA_READ;
        // Shortened to the eight bytes of an atomic, an entry that ends too late would lie inside: it is moved along.
        const moved = !read && name === 'an entry that ends after the region' ? BigInt(SIZE - 8) : 0n;
        const entry = read ? sge : { ...sge, addr: sge.addr + moved, length: 8 };
        const wrId = a.post({ opcode, sgList: [entry], ...pair.b.mr(SIZE).at(0) });
        pair.drive();
        assertStatuses(a.sent(), [[wrId, WcStatus.LOC_PROT_ERR]]);
        assert.deepEqual(mr.bytes, pattern(SIZE));
        assert.ok(mr.canariesIntact);
      }
    });
  }
});

describe('LOC_PROT_ERR ends a receive, and the sender gets REM_OP_ERR, for', () => {
  for (const [name, fault] of Object.entries(WRITE_FAULTS)) {
    it(name, () => {
      const pair = new Pair();
      const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
      const { sge, mr } = fault(pair.b);
      const received = b.postRecv({ sgList: [sge] });
      const next = b.postRecv();
      const sent = a.send(pair.a.mr(SIZE));
      pair.drive();
      assertStatuses(b.received(), [
        [received, WcStatus.LOC_PROT_ERR],
        [next, WcStatus.WR_FLUSH_ERR],
      ]);
      assertStatuses(a.sent(), [[sent, WcStatus.REM_OP_ERR]]);
      assert.deepEqual([a.state, b.state], [QpState.ERR, QpState.ERR]);
      assert.equal(pair.fromB()[0].syndrome, 0x63);
      assert.deepEqual(mr.bytes, pattern(SIZE));
      assert.ok(mr.canariesIntact);
    });
  }
});

describe('a local protection error', () => {
  it('lets the requests before it succeed and flushes those behind it', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    const [local, remote] = [pair.a.mr(8), pair.b.mr(8)];
    const bad = { sgList: [{ ...local.sge(), lkey: 1 }] };
    const wrIds = [a.write(local, remote), a.read(local, remote), a.write(local, remote, bad), a.write(local, remote)];
    pair.drive();
    assertStatuses(a.sent(), [
      [wrIds[0], WcStatus.SUCCESS],
      [wrIds[1], WcStatus.SUCCESS],
      [wrIds[2], WcStatus.LOC_PROT_ERR],
      [wrIds[3], WcStatus.WR_FLUSH_ERR],
    ]);
  });

  it('in a later entry of the list is found before anything is sent', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
    const [local, remote] = [pair.a.mr(600), pair.b.mr(1200)];
    const wrId = a.write(local, remote, { sgList: [local.sge(), { ...local.sge(), lkey: 1 }] });
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.LOC_PROT_ERR]]);
    assert.deepEqual(pair.fromA(), []);
  });

  it('says which key of which entry was at fault', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    const [local, remote] = [pair.a.mr(8), pair.b.mr(16)];
    a.write(local, remote, { sgList: [local.sge(), { addr: 0x11_2222_3333n, length: 4, lkey: 0x4711 }] });
    pair.drive();
    const [{ vendorErr, detail }] = a.sent();
    assert.equal(vendorErr, 7);
    assert.deepEqual(detail.slice(0, 5), [0x4711, 1, 0x11, 0x22223333, 4]);
  });

  it('is not raised for memory that is only read from without LOCAL_WRITE', () => {
    const pair = new Pair();
    const { a, b } = pair.connect();
    const local = pair.a.mrOf(pattern(8), { access: 0 });
    const target = pair.b.mr(8);
    b.recv(target);
    const wrId = a.send(local);
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.SUCCESS]]);
    assert.deepEqual(target.bytes, pattern(8));
  });

  it('is not raised for an entry of no bytes, whatever its key', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    const [local, remote] = [pair.a.mrOf(pattern(8)), pair.b.mr(8)];
    const wrId = a.write(local, remote, { sgList: [{ addr: 5n, length: 0, lkey: 0 }, local.sge()] });
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.SUCCESS]]);
    assert.deepEqual(remote.bytes, pattern(8));
  });
});

describe('keys', () => {
  it('of one region for local and remote use differ, or at least each opens only what it is for', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    const [local, remote] = [pair.a.mr(8), pair.b.mr(8)];
    if (remote.lkey === remote.rkey) return;
    const wrId = a.write(local, remote, { rkey: remote.lkey });
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.REM_ACCESS_ERR]]);
  });

  it('are not counted up', () => {
    const pair = new Pair();
    const keys = Array.from({ length: 64 }, () => pair.a.mr(8).rkey);
    assert.equal(new Set(keys).size, 64);
    const steps = new Set(keys.slice(1).map((key, i) => key - keys[i]));
    assert.ok(steps.size > 60);
  });
});
