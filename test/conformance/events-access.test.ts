import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  EventType,
  QpState,
  type RemoteMemory,
  SendFlags,
  type SendWr,
  type Sge,
  WcStatus,
  WrOpcode,
} from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { settle } from './sides.js';
import {
  ALL_ACCESS,
  assertErrno,
  assertStatus,
  BOGUS_KEY,
  LOCAL_ONLY,
  nextEvent,
  Pair,
  pendingEvents,
  perform,
  pollOne,
  remoteOf,
  useDevices,
  waitForState,
} from './support.js';

const BYTES = 64;

const REQUESTS = {
  READ: (sge: Sge, rdma: RemoteMemory): SendWr => ({ opcode: WrOpcode.RDMA_READ, sgList: [sge], rdma }),
  WRITE: (sge: Sge, rdma: RemoteMemory): SendWr => ({ opcode: WrOpcode.RDMA_WRITE, sgList: [sge], rdma }),
};

conformance('asynchronous events of refused requests', (provider) => {
  const devices = useDevices(provider);

  for (const [name, request] of Object.entries(REQUESTS)) {
    for (const [what, access, rkeyOf] of [
      ['a key that nothing has', ALL_ACCESS, () => BOGUS_KEY],
      ['a region without the right', LOCAL_ONLY, (rkey: number) => rkey],
    ] as const) {
      test(`tell the responder of a ${name} by ${what}, which changes nothing`, () => {
        using pair = new Pair(devices, { bytes: BYTES, remote: { access } });
        const { local, remote } = pair;
        local.mr.bytes.fill(0x61);
        remote.mr.bytes.fill(0x62);
        const { remoteAddr, rkey } = remoteOf(remote.mr);
        const wc = perform(local, request(local.mr.sge(), { remoteAddr, rkey: rkeyOf(rkey) }));
        assertStatus(local, wc, WcStatus.REM_ACCESS_ERR);
        assert.deepEqual(local.mr.bytes, new Uint8Array(BYTES).fill(0x61));
        assert.deepEqual(remote.mr.bytes, new Uint8Array(BYTES).fill(0x62));
        const event = nextEvent(remote.context);
        assert.equal(event.eventType, EventType.QP_ACCESS_ERR);
        assert.ok('qp' in event && event.qp === remote.qp);
        remote.context.ackAsyncEvent(event);
        waitForState(remote.qp, QpState.ERR);
        settle(remote.context);
        assert.deepEqual([...pendingEvents(remote.context), ...pendingEvents(local.context)], []);
      });
    }
  }

  test('are none where a receive request of the responder tells of it', () => {
    using pair = new Pair(devices, { bytes: BYTES });
    const { local, remote } = pair;
    remote.qp.postRecv({ sgList: [{ ...remote.mr.sge(), lkey: BOGUS_KEY }] });
    local.qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [local.mr.sge()] });
    assertStatus(local, pollOne(local.cq), WcStatus.REM_OP_ERR);
    assertStatus(remote, pollOne(remote.cq), WcStatus.LOC_PROT_ERR);
    settle(remote.context);
    assert.deepEqual([...pendingEvents(remote.context), ...pendingEvents(local.context)], []);
  });

  test('are not there when nothing has happened', () => {
    const [context] = devices;
    assertErrno('ETIMEDOUT', () => context.getAsyncEvent(0));
  });
});
