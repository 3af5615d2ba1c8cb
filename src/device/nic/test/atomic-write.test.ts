import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AccessFlags, MwType, QpState, WcOpcode, WcStatus, WrOpcode } from '../../ibta/index.js';
import { executeAtomicWrite } from '../memory/copying/atomic-execution.js';
import { MemoryRegion } from '../memory/memory-region.js';
import { Opcode } from '../../wire/index.js';
import type { TestMr } from './host.js';
import { assertCompleted, assertStatuses, dropping, Pair, pattern, Puppet } from './pair.js';
import type { TestQp } from './qp.js';
import { ALL_ACCESS, type SendRequest } from './rings.js';
import { bind, BINDABLE, window } from './windows.js';

/** ATOMIC_WRITE (protocol/packets.md 1.2, protocol/reliable.md 2.3, 2.5): eight bytes at once, answered by a READ response without data. */

const { LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC } = AccessFlags;
const VALUE = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 0xff);

function atomicWrite(qp: TestQp, mr: TestMr, offset: number, over: Partial<SendRequest> = {}): bigint {
  return qp.post({ opcode: WrOpcode.ATOMIC_WRITE, ...mr.at(offset), inline: VALUE, ...over });
}

function start(options: { qpAccess?: number; access?: number; maxRdAtomic?: number } = {}) {
  const pair = new Pair();
  const { qpAccess = ALL_ACCESS, access = ALL_ACCESS, maxRdAtomic = 16 } = options;
  const { a, b } = pair.connect({ both: { qpAccessFlags: qpAccess, timeout: 8, maxRdAtomic } });
  return { pair, a, b, mr: pair.b.mr(64, { access }) };
}

describe('an ATOMIC_WRITE', () => {
  it('goes out in one packet, writes its bytes as they are, and is answered by a READ response of no bytes', () => {
    const { pair, a, mr } = start();
    const wrId = atomicWrite(a, mr, 16);
    pair.drive();
    const completions = a.sent();
    assertCompleted(completions, [wrId]);
    assert.deepEqual([completions[0].opcode, completions[0].byteLen], [WcOpcode.ATOMIC_WRITE, 8]);
    assert.deepEqual(mr.bytes.subarray(16, 24), VALUE);
    assert.ok(mr.bytes.every((byte, i) => (i >= 16 && i < 24) || byte === 0));
    const [request, response, ...others] = pair.wire;
    assert.deepEqual(others, []);
    assert.deepEqual([request.name, request.psn, request.ackRequest], ['RC_ATOMIC_WRITE', 0x1000, true]);
    assert.deepEqual(request.reth, { va: mr.addr + 16n, rkey: mr.rkey, length: 8 });
    assert.deepEqual(request.payload, VALUE);
    assert.deepEqual(
      [response.name, response.psn, response.syndrome, response.msn, response.payload.length],
      ['RC_READ_RESP_ONLY', 0x1000, 0x1f, 1, 0],
    );
  });

  it('takes its bytes from memory, in pieces if need be', () => {
    const { pair, a, mr } = start();
    const local = pair.a.mrOf(VALUE, { access: 0 });
    const wrId = a.post({
      opcode: WrOpcode.ATOMIC_WRITE,
      ...mr.at(0),
      sgList: [local.sge(0, 3), local.sge(3, 5)],
    });
    pair.drive();
    assertCompleted(a.sent(), [wrId]);
    assert.deepEqual(mr.bytes.subarray(0, 8), VALUE);
  });

  it('keeps its place among WRITEs', () => {
    const { pair, a, mr } = start();
    const local = pair.a.mrOf(pattern(64));
    const wrIds = [a.write(local, mr), atomicWrite(a, mr, 8), a.write(local, mr, { sgList: [local.sge(0, 12)] })];
    pair.drive();
    assertCompleted(a.sent(), wrIds);
    const expected = pattern(64);
    expected.set(VALUE, 8);
    expected.set(pattern(64).subarray(8, 12), 8);
    assert.deepEqual(mr.bytes, expected);
  });

  it('needs REMOTE_WRITE, not REMOTE_ATOMIC', () => {
    const { pair, a, mr } = start({ qpAccess: REMOTE_WRITE, access: LOCAL_WRITE | REMOTE_WRITE });
    const wrId = atomicWrite(a, mr, 0);
    pair.drive();
    assertCompleted(a.sent(), [wrId]);
  });

  it('goes through a window of which it is inside', () => {
    for (const [offset, status] of [
      [8, WcStatus.SUCCESS],
      [16, WcStatus.REM_ACCESS_ERR],
    ] as const) {
      const { pair, a, b } = start();
      const mr = pair.b.mr(64, { access: BINDABLE });
      const mw = window(pair.b, MwType.TYPE_2);
      bind(b, mw, mr, { access: REMOTE_WRITE, offset: 8, length: 8 });
      pair.drive();
      const wrId = atomicWrite(a, mr, offset, { rkey: mw.rkey | 0 });
      pair.drive();
      assertStatuses(a.sent(), [[wrId, status]]);
    }
  });

  it('takes one of the places that max_rd_atomic gives', () => {
    const { pair, a, mr } = start({ maxRdAtomic: 1 });
    pair.script = ({ isReadResponse }) => (isReadResponse ? 'drop' : 'pass');
    const wrIds = [atomicWrite(a, mr, 0), atomicWrite(a, mr, 8)];
    pair.run(20);
    assert.equal(pair.fromA().length, 1);
    pair.script = undefined;
    pair.drive();
    assertCompleted(a.sent(), wrIds);
  });

  for (const size of [0, 4, 7, 9, 16]) {
    it(`of ${String(size)} bytes is refused at home`, () => {
      const { pair, a, mr } = start();
      const local = pair.a.mr(16);
      const wrId = a.post({ opcode: WrOpcode.ATOMIC_WRITE, ...mr.at(0), sgList: [local.sge(0, size)] });
      pair.drive();
      assertStatuses(a.sent(), [[wrId, WcStatus.LOC_LEN_ERR]]);
      assert.deepEqual(pair.wire, []);
    });
  }
});

describe('an ATOMIC_WRITE is refused', () => {
  it('as an invalid request when the QP lacks REMOTE_WRITE', () => {
    const { pair, a, b, mr } = start({ qpAccess: REMOTE_READ | REMOTE_ATOMIC });
    const wrId = atomicWrite(a, mr, 0);
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.REM_INV_REQ_ERR]]);
    assert.equal(pair.fromB()[0].syndrome, 0x61);
    assert.equal(b.state, QpState.ERR);
  });

  it('as a remote access error when the region lacks REMOTE_WRITE', () => {
    const { pair, a, mr } = start({ access: LOCAL_WRITE | REMOTE_READ | REMOTE_ATOMIC });
    const wrId = atomicWrite(a, mr, 0);
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.REM_ACCESS_ERR]]);
    assert.ok(mr.bytes.every((byte) => byte === 0));
  });

  it('when it is not all inside the region', () => {
    for (const offset of [-8, 64]) {
      const { pair, a, mr } = start();
      const wrId = atomicWrite(a, mr, offset);
      pair.drive();
      assertStatuses(a.sent(), [[wrId, WcStatus.REM_ACCESS_ERR]]);
      assert.ok(mr.canariesIntact);
    }
  });

  it('as an invalid request when its address is not aligned to eight bytes', () => {
    for (const offset of [1, 4, 7]) {
      const { pair, a, mr } = start();
      const wrId = atomicWrite(a, mr, offset);
      pair.drive();
      assertStatuses(a.sent(), [[wrId, WcStatus.REM_INV_REQ_ERR]]);
      assert.ok(mr.bytes.every((byte) => byte === 0));
    }
  });

  for (const [payload, length] of [
    [4, 8],
    [8, 4],
    [8, 16],
    [16, 16],
    [0, 8],
  ] as const) {
    it(`with ${String(payload)} bytes where its RETH says ${String(length)}`, () => {
      const puppet = new Puppet();
      const mr = puppet.host1.mr(64);
      puppet.say({
        opcode: Opcode.RC_ATOMIC_WRITE,
        psn: 0x2000,
        reth: { va: mr.addr, rkey: mr.rkey, length },
        payload: pattern(payload),
      });
      assert.deepEqual(
        puppet.heard().map(({ psn, syndrome }) => [psn, syndrome]),
        [[0x2000, 0x61]],
      );
      assert.ok(mr.bytes.every((byte) => byte === 0));
    });
  }
});

describe('a repeated ATOMIC_WRITE', () => {
  it('is answered and not executed again', () => {
    const { pair, a, b, mr } = start();
    pair.script = dropping(({ isReadResponse }) => isReadResponse, 1);
    const wrId = atomicWrite(a, mr, 0);
    pair.run(20);
    // The program has written there since.
    mr.bytes.fill(9);
    pair.drive();
    assertCompleted(a.sent(), [wrId]);
    assert.ok(mr.bytes.every((byte) => byte === 9));
    assert.equal(pair.b.nic.counters.duplicateRequest, 1);
    assert.deepEqual(
      pair.fromB().map(({ psn, msn }) => [psn, msn]),
      [
        [0x1000, 1],
        [0x1000, 1],
      ],
    );
    assert.equal(b.state, QpState.RTS);
  });

  it('is answered though its region has gone', () => {
    const { pair, a, mr } = start();
    pair.script = dropping(({ isReadResponse }) => isReadResponse, 1);
    const wrId = atomicWrite(a, mr, 0);
    pair.run(20);
    pair.b.nic.control.deregMr(mr.handle);
    pair.drive();
    assertCompleted(a.sent(), [wrId]);
  });

  it('at a PSN that was another request is dropped', () => {
    const puppet = new Puppet();
    const mr = puppet.host1.mr(64);
    puppet.say({
      opcode: Opcode.RC_READ_REQUEST,
      psn: 0x2000,
      reth: { va: mr.addr, rkey: mr.rkey, length: 8 },
    });
    puppet.heard();
    puppet.say({
      opcode: Opcode.RC_ATOMIC_WRITE,
      psn: 0x2000,
      reth: { va: mr.addr, rkey: mr.rkey, length: 8 },
      payload: VALUE,
    });
    assert.deepEqual(puppet.heard(), []);
    assert.ok(mr.bytes.every((byte) => byte === 0));
  });
});

describe('an ATOMIC_WRITE reaches memory', () => {
  it('wherever that lies in its buffer, aligned or not', () => {
    for (let shift = 0; shift < 16; shift += 1) {
      const buffer = new Uint8Array(50);
      const bytes = buffer.subarray(shift, shift + 24);
      const region = new MemoryRegion(1, 1, 2, { pd: 1, access: ALL_ACCESS, bytes, iovaHi: 0, iovaLo: 0 });
      executeAtomicWrite(Uint8Array.of(0, ...VALUE), 1, region, 8);
      const expected = new Uint8Array(50);
      expected.set(VALUE, shift + 8);
      assert.deepEqual(buffer, expected);
    }
  });
});
