import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AccessFlags, Mtu, Syndrome, WcStatus, WrOpcode } from '../../ibta/index.js';
import { MemoryRegion } from '../memory/memory-region.js';
import { askedOfGone } from '../../../../test/support/compiled.js';
import type { TestHost, TestMr } from './host.js';
import { assertCompleted, assertRefused, assertStatuses, Pair, pattern, World } from './pair.js';
import { type TestQp, UNSIGNALLED } from './qp.js';
import { ALL_ACCESS, hi32, lo32, type Sge } from './rings.js';

/** Regions that begin elsewhere than their memory, that change, and that are not there at all (protocol/services.md 3.6). */

const { LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE, ZERO_BASED } = AccessFlags;
const SIZE = 256 * 400;

function host(limits: object = {}): TestHost {
  return new World().host('10.0.0.1', { limits });
}

function start() {
  const pair = new Pair();
  const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
  return { pair, a, b };
}

/** Expects exactly one request of `qp` to complete so. */
function expect(pair: Pair, qp: TestQp, wrId: bigint, status: WcStatus): void {
  pair.drive();
  assertStatuses(qp.sent(), [[wrId, status]]);
}

describe('registration accepts', () => {
  for (const [name, flag] of Object.entries(AccessFlags)) {
    it(name, () => {
      const mr = host().mr(8, { access: LOCAL_WRITE | flag });
      assert.notEqual(mr.rkey, 0);
    });
  }

  it('any of the optional flags, known or not', () => {
    host().mr(8, { access: 0x3ff00000 });
  });
});

describe('a region with an address of its own', () => {
  for (const iova of [0n, 0x1000n, 0x1_ffff_ff00n, 2n ** 63n, 2n ** 64n - 600n]) {
    it(`of 0x${iova.toString(16)} is named by it, by peers and by work requests`, () => {
      const { pair, a, b } = start();
      const local = pair.a.mrOf(pattern(600, 1), { iova });
      const remote = pair.b.mrOf(pattern(600, 2), { iova });
      const back = pair.a.mr(600);
      b.recv(remote);
      const wrIds = [a.write(local, remote), a.read(back, remote), a.send(local)];
      pair.drive();
      assertCompleted(a.sent(), wrIds);
      assert.deepEqual([remote.bytes, back.bytes], [local.bytes, local.bytes]);
    });
  }
});

describe('a zero-based region', () => {
  function zeroBased(pair: Pair): { mr: TestMr; at: (offset: number) => { remoteAddr: bigint; rkey: number } } {
    const mr = pair.b.mrOf(pattern(1000, 2), { access: ALL_ACCESS | ZERO_BASED, iova: 0x7000n });
    return { mr, at: (offset) => ({ remoteAddr: BigInt(offset), rkey: mr.rkey }) };
  }

  it('is addressed by offsets, whatever address it was registered with', () => {
    const { pair, a, b } = start();
    const { mr, at } = zeroBased(pair);
    const local = pair.a.mrOf(pattern(500, 1));
    b.postRecv({ sgList: [{ addr: 0n, length: 10, lkey: mr.lkey }] });
    const wrIds = [a.write(local, mr, at(500)), a.send(local, { sgList: [local.sge(0, 10)] })];
    pair.drive();
    assertCompleted(a.sent(), wrIds);
    assert.deepEqual(mr.bytes.subarray(500), local.bytes);
    assert.deepEqual(mr.bytes.subarray(0, 10), local.bytes.subarray(0, 10));
  });

  it('ends where its bytes end', () => {
    const { pair, a } = start();
    const { mr, at } = zeroBased(pair);
    expect(pair, a, a.write(pair.a.mr(500), mr, at(501)), WcStatus.REM_ACCESS_ERR);
    assert.ok(mr.canariesIntact);
  });

  it('is not reached by an address', () => {
    const { pair, a } = start();
    const { mr } = zeroBased(pair);
    expect(pair, a, a.write(pair.a.mr(500), mr), WcStatus.REM_ACCESS_ERR);
  });
});

describe('the null region', () => {
  function nullSge(own: TestHost, length: number, addr = 0xdead_beef_0000_0007n): Sge {
    return { addr, length, lkey: own.nic.control.allocNullMr(own.pd).lkey };
  }

  it('gives zeros to a SEND and a WRITE, from any address', () => {
    for (const addr of [0n, 5n, 2n ** 64n - 1n]) {
      const { pair, a, b } = start();
      const target = pair.b.mr(1000);
      b.recv(pair.b.mrOf(pattern(1000)));
      // So that zeros are not what the packets hold anyway.
      a.write(pair.a.mrOf(pattern(1000)), target, { flags: UNSIGNALLED });
      pair.drive();
      const sgList = [nullSge(pair.a, 1000, addr)];
      const wrIds = [a.post({ opcode: WrOpcode.SEND, sgList }), a.write(target, target, { sgList })];
      pair.drive();
      assertCompleted(a.sent(), wrIds);
      assert.ok(pair.b.regions.every(({ bytes }) => bytes.every((byte) => byte === 0)));
    }
  });

  it('swallows what a receive, a READ and an atomic put there', () => {
    const { pair, a, b } = start();
    const source = pair.a.mrOf(pattern(1000));
    const remote = pair.b.mrOf(pattern(1000));
    const received = b.postRecv({ sgList: [nullSge(pair.b, 1000)] });
    const wrIds = [
      a.send(source),
      a.read(source, remote, { sgList: [nullSge(pair.a, 1000)] }),
      a.fetchAdd(source, remote, 1n, { sgList: [nullSge(pair.a, 8)] }),
    ];
    pair.drive();
    assertCompleted(a.sent(), wrIds);
    assertCompleted(b.received(), [received]);
    assert.deepEqual(source.bytes, pattern(1000));
  });

  it('leaves a gap where it stands between two pieces of memory', () => {
    const { pair, a, b } = start();
    const source = pair.a.mrOf(pattern(900, 1));
    const target = pair.b.mr(900);
    b.postRecv({ sgList: [target.sge(0, 300), nullSge(pair.b, 300), target.sge(600, 300)] });
    const wrId = a.send(source);
    pair.drive();
    assertCompleted(a.sent(), [wrId]);
    const expected = pattern(900, 1);
    expected.fill(0, 300, 600);
    assert.deepEqual(target.bytes, expected);
  });

  it('is closed to peers', () => {
    const { pair, a } = start();
    const { rkey } = pair.b.nic.control.allocNullMr(pair.b.pd);
    expect(pair, a, a.write(pair.a.mr(8), pair.b.mr(8), { rkey: rkey | 0 }), WcStatus.REM_ACCESS_ERR);
  });

  it('is closed to QPs of another protection domain', () => {
    const { pair } = start();
    const { a } = pair.connect({ qpA: { pd: pair.a.nic.control.allocPd() } });
    expect(pair, a, a.post({ opcode: WrOpcode.SEND, sgList: [nullSge(pair.a, 8)] }), WcStatus.LOC_PROT_ERR);
  });

  it('cannot be changed, holds its protection domain, and counts as a region', () => {
    const { nic } = host({ maxMr: 1 });
    const { control } = nic;
    const pd = control.allocPd();
    const { handle } = control.allocNullMr(pd);
    assertRefused('EINVAL', () => control.reregMr({ handle, access: 0 }));
    assertRefused('EBUSY', () => control.deallocPd(pd));
    assertRefused('ENOMEM', () => control.allocNullMr(pd));
    control.deregMr(handle);
    control.deallocPd(pd);
  });

  it('that is deregistered is unknown', () => {
    const { pair, a } = start();
    const { handle, lkey } = pair.a.nic.control.allocNullMr(pair.a.pd);
    pair.a.nic.control.deregMr(handle);
    const wrId = a.post({ opcode: WrOpcode.SEND, sgList: [{ addr: 0n, length: 8, lkey }] });
    expect(pair, a, wrId, WcStatus.LOC_PROT_ERR);
  });

  it('of no protection domain is not made', () => {
    assertRefused('EINVAL', () => host().nic.control.allocNullMr(999));
  });
});

describe('a region whose memory was transferred away', () => {
  it('is seen to be without it, also by code that V8 has compiled', () => {
    const region = new MemoryRegion(1, 1, 1, { pd: 1, access: 0, bytes: new Uint8Array(64), iovaHi: 0, iovaLo: 0 });
    const isPresent = (bytes: Uint8Array): boolean => {
      region.bytes = bytes;
      return region.present;
    };
    assert.equal(askedOfGone(isPresent), false);
  });
});

describe('a region that is deregistered', () => {
  it('lets its memory go at once, though work in flight may hold the region on', () => {
    const own = host();
    const mr = own.mr(64);
    const region = own.nic.memory.byLkey(mr.lkey | 0);
    const grant = own.nic.memory.openWhole(mr.rkey | 0, own.pd, 16, REMOTE_READ);
    assert.deepEqual([region?.bytes, grant?.usable], [mr.bytes, true]);
    own.nic.control.deregMr(mr.handle);
    assert.deepEqual([region?.bytes.length, grant?.usable], [0, false]);
  });
});

describe('re-registration', () => {
  it('keeps the keys', () => {
    const own = host();
    const { handle, lkey, rkey } = own.mr(8);
    assert.deepEqual(own.nic.control.reregMr({ handle, access: LOCAL_WRITE }), { handle, lkey, rkey });
  });

  it('takes access away and gives it', () => {
    const { pair } = start();
    const mr = pair.b.mr(8, { access: LOCAL_WRITE | REMOTE_READ });
    pair.b.nic.control.reregMr({ handle: mr.handle, access: LOCAL_WRITE | REMOTE_WRITE });
    const [writer, reader] = [pair.connect().a, pair.connect().a];
    expect(pair, writer, writer.write(pair.a.mr(8), mr), WcStatus.SUCCESS);
    expect(pair, reader, reader.read(pair.a.mr(8), mr), WcStatus.REM_ACCESS_ERR);
  });

  it('without LOCAL_WRITE ends a receive into the region', () => {
    const { pair, a, b } = start();
    const mr = pair.b.mr(8);
    b.recv(mr);
    pair.b.nic.control.reregMr({ handle: mr.handle, access: 0 });
    const wrId = a.send(pair.a.mr(8));
    expect(pair, a, wrId, WcStatus.REM_OP_ERR);
    assert.equal(b.received()[0].vendorErr, Syndrome.LOCAL_KEY_ACCESS);
  });

  it('moves the region to another protection domain, which it holds from then on', () => {
    const { pair, a } = start();
    const { control } = pair.b.nic;
    const [from, to] = [control.allocPd(), control.allocPd()];
    const mr = pair.b.mr(8, { pd: from });
    control.reregMr({ handle: mr.handle, pd: to });
    control.deallocPd(from);
    assertRefused('EBUSY', () => control.deallocPd(to));
    const { a: friend } = pair.connect({ qpB: { pd: to } });
    expect(pair, friend, friend.write(pair.a.mr(8), mr), WcStatus.SUCCESS);
    expect(pair, a, a.write(pair.a.mr(8), mr), WcStatus.REM_ACCESS_ERR);
    control.deregMr(mr.handle);
  });

  it('puts other memory behind the keys, and leaves the former alone', () => {
    const { pair, a } = start();
    const mr = pair.b.mrOf(pattern(100, 2));
    const bytes = new Uint8Array(300);
    const iova = 0x5_0000_0000n;
    pair.b.nic.control.reregMr({ handle: mr.handle, bytes, iovaHi: hi32(iova), iovaLo: lo32(iova) });
    const local = pair.a.mrOf(pattern(300, 1));
    expect(pair, a, a.write(local, mr, { remoteAddr: iova }), WcStatus.SUCCESS);
    assert.deepEqual(bytes, local.bytes);
    assert.deepEqual(mr.bytes, pattern(100, 2));
    expect(pair, a, a.write(local, mr, { sgList: [local.sge(0, 8)] }), WcStatus.REM_ACCESS_ERR);
  });

  it('lets an atomic find the other memory', () => {
    const { pair, a } = start();
    const mr = pair.b.mr(16);
    const answer = pair.a.mr(8);
    expect(pair, a, a.fetchAdd(answer, mr, 1n), WcStatus.SUCCESS);
    const bytes = new Uint8Array(16);
    pair.b.nic.control.reregMr({ handle: mr.handle, bytes });
    expect(pair, a, a.fetchAdd(answer, mr, 5n), WcStatus.SUCCESS);
    assert.deepEqual([mr.bytes[0], bytes[0]], [1, 5]);
  });

  it('makes the region zero-based', () => {
    const { pair, a } = start();
    const mr = pair.b.mr(16);
    pair.b.nic.control.reregMr({ handle: mr.handle, access: ALL_ACCESS | ZERO_BASED });
    expect(pair, a, a.write(pair.a.mr(16), mr, { remoteAddr: 0n }), WcStatus.SUCCESS);
  });

  it('that is refused changes nothing', () => {
    const { pair, a } = start();
    const mr = pair.b.mr(16);
    const { handle } = mr;
    const { control } = pair.b.nic;
    const pd = control.allocPd();
    assertRefused('EINVAL', () => control.reregMr({ handle: handle + 1000, access: 0 }));
    assertRefused('EINVAL', () => control.reregMr({ handle, pd, access: REMOTE_WRITE }));
    assertRefused('EINVAL', () => control.reregMr({ handle, pd, access: LOCAL_WRITE | (1 << 14) }));
    assertRefused('EINVAL', () => control.reregMr({ handle, pd, bytes: new Uint8Array(0) }));
    assertRefused('EINVAL', () => control.reregMr({ handle, pd, iovaHi: -1, iovaLo: -15 }));
    assertRefused('EINVAL', () => control.reregMr({ handle, pd: 999, access: 0 }));
    control.deallocPd(pd);
    expect(pair, a, a.write(pair.a.mrOf(pattern(16)), mr), WcStatus.SUCCESS);
    assert.deepEqual(mr.bytes, pattern(16));
  });
});

describe('re-registration in the midst of', () => {
  /** Other memory at the same address. */
  function swap(own: TestHost, mr: TestMr): Uint8Array {
    const bytes = new Uint8Array(mr.length);
    own.nic.control.reregMr({ handle: mr.handle, bytes });
    return bytes;
  }

  it('a WRITE puts the rest into the memory that is there now', () => {
    const { pair, a } = start();
    const source = pair.a.mrOf(pattern(SIZE));
    const mr = pair.b.mr(SIZE);
    const wrId = a.write(source, mr);
    pair.run(12);
    const then = mr.bytes.slice();
    const bytes = swap(pair.b, mr);
    expect(pair, a, wrId, WcStatus.SUCCESS);
    assert.deepEqual(mr.bytes, then);
    assert.ok(then.some((byte) => byte !== 0) && bytes.some((byte) => byte !== 0));
    assert.deepEqual(
      bytes.map((byte, i) => byte | mr.bytes[i]),
      source.bytes,
    );
  });

  it('a READ reads the rest from the memory that is there now', () => {
    const { pair, a } = start();
    const target = pair.a.mr(SIZE);
    const mr = pair.b.mrOf(new Uint8Array(SIZE).fill(1));
    const wrId = a.read(target, mr);
    pair.run(12);
    swap(pair.b, mr).fill(2);
    expect(pair, a, wrId, WcStatus.SUCCESS);
    const changed = target.bytes.indexOf(2);
    assert.ok(changed > 0);
    assert.ok(target.bytes.every((byte, i) => byte === (i < changed ? 1 : 2)));
  });

  const takers: Readonly<Record<string, (own: TestHost, handle: number) => void>> = {
    'that takes the access away': (own, handle) => void own.nic.control.reregMr({ handle, access: LOCAL_WRITE }),
    'into another protection domain': (own, handle) =>
      void own.nic.control.reregMr({ handle, pd: own.nic.control.allocPd() }),
    'that shortens the region': (own, handle) =>
      void own.nic.control.reregMr({ handle, bytes: new Uint8Array(SIZE - 1) }),
    'that moves the address': (own, handle) => void own.nic.control.reregMr({ handle, iovaHi: 1, iovaLo: 0 }),
  };
  for (const [name, take] of Object.entries(takers)) {
    it(`a WRITE, ${name}, refuses the rest`, () => {
      const { pair, a } = start();
      const mr = pair.b.mr(SIZE);
      const wrId = a.write(pair.a.mrOf(pattern(SIZE)), mr);
      pair.run(12);
      take(pair.b, mr.handle);
      const then = mr.bytes.slice();
      expect(pair, a, wrId, WcStatus.REM_ACCESS_ERR);
      assert.deepEqual(mr.bytes, then);
    });

    it(`a READ, ${name}, refuses the rest`, () => {
      const { pair, a } = start();
      const mr = pair.b.mr(SIZE);
      const wrId = a.read(pair.a.mr(SIZE), mr);
      pair.run(12);
      take(pair.b, mr.handle);
      expect(pair, a, wrId, WcStatus.REM_ACCESS_ERR);
    });
  }

  it('a SEND goes on from the memory that is there now', () => {
    const { pair, a, b } = start();
    const source = pair.a.mr(SIZE);
    const target = pair.b.mr(SIZE);
    b.recv(target);
    const wrId = a.send(source);
    pair.run(12);
    swap(pair.a, source).fill(7);
    expect(pair, a, wrId, WcStatus.SUCCESS);
    assert.equal(target.bytes.at(-1), 7);
    assert.equal(target.bytes[0], 0);
  });
});
