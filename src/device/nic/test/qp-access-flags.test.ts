import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AccessFlags, EventType, QpState, WcStatus, WrOpcode } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import { assertCompleted, assertStatuses, Pair, pattern, Puppet } from './pair.js';

/** protocol/reliable.md 2.3, row 3: what the QP does not allow is an invalid request, whatever the region allows. */

const CASES = [
  { name: 'WRITE', opcode: WrOpcode.RDMA_WRITE, flag: AccessFlags.REMOTE_WRITE },
  { name: 'WRITE with immediate data', opcode: WrOpcode.RDMA_WRITE_WITH_IMM, flag: AccessFlags.REMOTE_WRITE },
  { name: 'READ', opcode: WrOpcode.RDMA_READ, flag: AccessFlags.REMOTE_READ },
  { name: 'fetch-and-add', opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, flag: AccessFlags.REMOTE_ATOMIC },
  { name: 'compare-and-swap', opcode: WrOpcode.ATOMIC_CMP_AND_SWP, flag: AccessFlags.REMOTE_ATOMIC },
] as const;

const ALL = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;

describe('a QP without the flag refuses as an invalid request', () => {
  for (const { name, opcode, flag } of CASES) {
    it(`a ${name}`, () => {
      const pair = new Pair();
      const { a, b } = pair.connect({ b: { qpAccessFlags: ALL & ~flag } });
      const remote = pair.b.mrOf(pattern(8));
      const local = pair.a.mr(8);
      const wrId = a.post({ opcode, sgList: [local.sge()], ...remote.at(0), compareAdd: 1n });
      pair.drive();
      assertStatuses(a.sent(), [[wrId, WcStatus.REM_INV_REQ_ERR]]);
      assert.deepEqual([a.state, b.state], [QpState.ERR, QpState.ERR]);
      assert.equal(pair.fromB()[0].syndrome, 0x61);
      assert.deepEqual(remote.bytes, pattern(8));
      assert.deepEqual(pair.b.eventsOf(b), [EventType.QP_REQ_ERR]);
    });

    it(`a ${name} with a bad key just the same`, () => {
      const pair = new Pair();
      const { a } = pair.connect({ b: { qpAccessFlags: ALL & ~flag } });
      const local = pair.a.mr(8);
      const wrId = a.post({ opcode, sgList: [local.sge()], remoteAddr: 0n, rkey: 1 });
      pair.drive();
      assertStatuses(a.sent(), [[wrId, WcStatus.REM_INV_REQ_ERR]]);
    });
  }
});

describe('a QP with the one flag that an operation needs', () => {
  for (const { name, opcode, flag } of CASES) {
    it(`executes a ${name}`, () => {
      const pair = new Pair();
      const { a, b } = pair.connect({ b: { qpAccessFlags: flag } });
      const remote = pair.b.mrOf(pattern(8));
      const local = pair.a.mr(8);
      b.postRecv();
      const wrId = a.post({ opcode, sgList: [local.sge()], ...remote.at(0) });
      pair.drive();
      assertCompleted(a.sent(), [wrId]);
    });
  }
});

describe('a QP that allows nothing', () => {
  it('still takes SENDs', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ b: { qpAccessFlags: 0 } });
    const received = b.recv(pair.b.mr(8));
    const sent = a.send(pair.a.mr(8));
    pair.drive();
    assertCompleted(a.sent(), [sent]);
    assertCompleted(b.received(), [received]);
  });

  it('can be opened while it runs', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ b: { qpAccessFlags: 0 } });
    b.modify({ qpState: QpState.RTS, qpAccessFlags: AccessFlags.REMOTE_WRITE });
    const wrId = a.write(pair.a.mr(8), pair.b.mr(8));
    pair.drive();
    assertCompleted(a.sent(), [wrId]);
  });
});

describe('a QP without responder resources', () => {
  for (const opcode of [Opcode.RC_READ_REQUEST, Opcode.RC_FETCH_ADD]) {
    it(`refuses opcode 0x${opcode.toString(16)} as an invalid request`, () => {
      const puppet = new Puppet({ maxDestRdAtomic: 0 });
      const target = puppet.host1.mr(8);
      const { addr: va, rkey } = target;
      const operands =
        opcode === Opcode.RC_READ_REQUEST ? { reth: { va, rkey, length: 8 } } : { atomic: { va, rkey, swapAdd: 1n } };
      puppet.say({ opcode, psn: 0x2000, ...operands });
      assert.equal(puppet.heard()[0].syndrome, 0x61);
      assert.equal(puppet.qp.state, QpState.ERR);
    });
  }
});
