import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Evidence, explanations } from '../../../providers/soft/explanations/templates.js';
import { EventType, SendFlags, Syndrome, WcOpcode, WcStatus, WrOpcode } from '../../ibta/index.js';
import type { Manner } from '../../../../test/support/foreign-memory.js';
import { Pair } from './pair.js';
import type { SendRequest } from './rings.js';

const FAILURE = -36;
const LENGTH = 5000;
const MANNERS: readonly (readonly [string, number])[] = [
  ['at once', 0],
  ['later', 100],
];

for (const [when, delayUs] of MANNERS) {
  /** A device that fails, whatever it is to copy. */
  const failing: Manner = { failure: FAILURE, delayUs: () => delayUs, faultAt: () => 0 };

  describe(`a device that fails ${when} to copy`, () => {
    for (const [name, opcode] of [
      ['WRITE', WrOpcode.RDMA_WRITE],
      ['READ', WrOpcode.RDMA_READ],
      ['FETCH_ADD', WrOpcode.ATOMIC_FETCH_AND_ADD],
    ] as const) {
      const request = { opcode, flags: SendFlags.SIGNALED } as const;
      const length = opcode === WrOpcode.ATOMIC_FETCH_AND_ADD ? 8 : LENGTH;

      it(`memory that a ${name} names has that end in REM_OP_ERR, and its own program hears of the device`, () => {
        const pair = new Pair();
        const { a, b } = pair.connect();
        a.post({ ...request, sgList: [pair.a.mr(length).sge()], ...pair.b.mr(length, { manner: failing }).at(0) });
        b.recv(pair.b.mr(8));
        pair.drive();
        assert.equal(a.sent()[0].status, WcStatus.REM_OP_ERR);
        const [{ status, detail }] = b.received();
        assert.deepEqual([status, detail[1]], [WcStatus.WR_FLUSH_ERR, Syndrome.RESPONDER_MEMORY_DEVICE]);
        assert.ok(pair.b.eventsOf(b).includes(EventType.QP_FATAL));
      });

      it(`memory that a ${name} lies in has that end in LOC_PROT_ERR, with what its driver said`, () => {
        const pair = new Pair();
        const { a } = pair.connect();
        const local = pair.a.mr(length, { manner: failing });
        a.post({ ...request, sgList: [local.sge()], ...pair.b.mr(length).at(0) });
        pair.drive();
        const [{ status, vendorErr, detail }] = a.sent();
        assert.deepEqual([status, vendorErr], [WcStatus.LOC_PROT_ERR, Syndrome.LOCAL_MEMORY_DEVICE]);
        const [lkey, high, low, failure] = detail.map((word) => word >>> 0);
        const evidence: Evidence = { opcode: WcOpcode.SEND, peer: undefined, detail: [lkey, high, low, failure, 0, 0] };
        assert.match(explanations[Syndrome.LOCAL_MEMORY_DEVICE](evidence), /its driver gave error -36/);
      });
    }

    it('what a message is received in has both ends of it fail for that', () => {
      const pair = new Pair();
      const { a, b } = pair.connect();
      b.recv(pair.b.mr(LENGTH, { manner: failing }));
      a.send(pair.a.mr(LENGTH));
      pair.drive();
      const [{ status, vendorErr }] = b.received();
      assert.deepEqual([status, vendorErr], [WcStatus.LOC_PROT_ERR, Syndrome.LOCAL_MEMORY_DEVICE]);
      assert.equal(a.sent()[0].status, WcStatus.REM_OP_ERR);
    });

    it('what a WRITE with immediate is for ends its receive request in LOC_PROT_ERR', () => {
      const pair = new Pair();
      const { a, b } = pair.connect();
      b.recv(pair.b.mr(8));
      const request: SendRequest = { opcode: WrOpcode.RDMA_WRITE_WITH_IMM, imm: 7, flags: SendFlags.SIGNALED };
      a.post({ ...request, sgList: [pair.a.mr(64).sge()], ...pair.b.mr(64, { manner: failing }).at(0) });
      pair.drive();
      const [{ status, vendorErr }] = b.received();
      assert.deepEqual([status, vendorErr], [WcStatus.LOC_PROT_ERR, Syndrome.RESPONDER_MEMORY_DEVICE]);
      assert.equal(a.sent()[0].status, WcStatus.REM_OP_ERR);
    });
  });
}

it('a key that is closed while its device copies is the reason, not the device', () => {
  const pair = new Pair();
  const { a, b } = pair.connect();
  const remote = pair.b.mr(64, { manner: { failure: FAILURE, delayUs: () => 100 } });
  a.write(pair.a.mr(64), remote);
  pair.drive({ until: () => remote.memory?.pending === 1 });
  pair.b.nic.control.deregMr(remote.handle);
  b.recv(pair.b.mr(8));
  pair.drive();
  assert.equal(a.sent()[0].status, WcStatus.REM_ACCESS_ERR);
});
