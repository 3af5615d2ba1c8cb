import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QpState, SendFlags, type SendWr, WcStatus, WrOpcode } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import {
  assertEmpty,
  assertStatus,
  BOGUS_KEY,
  type End,
  Pair,
  pollOne,
  pollUntil,
  remoteOf,
  statusName,
  useDevices,
  waitForState,
} from './support.js';

const PAGE = 4096;
const { SEND, RDMA_READ, RDMA_WRITE } = WrOpcode;
const { LOC_PROT_ERR, REM_ACCESS_ERR, REM_INV_REQ_ERR, WR_FLUSH_ERR } = WcStatus;
const LOCAL_FILL = 0x61;
const REMOTE_FILL = 0x62;

const OPCODES = { SEND, READ: RDMA_READ, WRITE: RDMA_WRITE } as const;
type Operation = keyof typeof OPCODES;

/** What a request names wrongly, and what comes of it. A local key is looked at before anything is sent. */
const WRONG = {
  'an L_Key that nothing has': { lkey: BOGUS_KEY, status: LOC_PROT_ERR },
  'an R_Key that nothing has': { rkey: BOGUS_KEY, status: REM_ACCESS_ERR },
  'both keys wrong': { lkey: BOGUS_KEY, rkey: BOGUS_KEY, status: LOC_PROT_ERR },
  'an address outside its region': { offset: PAGE, status: REM_ACCESS_ERR },
} as const satisfies Record<string, { lkey?: number; rkey?: number; offset?: number; status: WcStatus }>;

const ROWS: readonly (readonly [Operation, keyof typeof WRONG])[] = [
  ['SEND', 'an L_Key that nothing has'],
  ['READ', 'an L_Key that nothing has'],
  ['READ', 'an R_Key that nothing has'],
  ['READ', 'both keys wrong'],
  ['READ', 'an address outside its region'],
  ['WRITE', 'an L_Key that nothing has'],
  ['WRITE', 'an R_Key that nothing has'],
  ['WRITE', 'both keys wrong'],
  ['WRITE', 'an address outside its region'],
];

/** A page of `local` and a page of `remote`, named as `wrong` says. */
function request(operation: Operation, local: End, remote: End, wrong: keyof typeof WRONG): SendWr {
  const { lkey, rkey, offset }: { lkey?: number; rkey?: number; offset?: number } = WRONG[wrong];
  const sge = local.mr.sge(0, PAGE);
  const rdma = remoteOf(remote.mr, offset);
  return {
    opcode: OPCODES[operation],
    sgList: [{ ...sge, lkey: lkey ?? sge.lkey }],
    rdma: { ...rdma, rkey: rkey ?? rdma.rkey },
  };
}

conformance('RC requests', (provider) => {
  const devices = useDevices(provider);

  const open = (): Pair => {
    const pair = new Pair(devices, { bytes: PAGE });
    pair.local.mr.bytes.fill(LOCAL_FILL);
    pair.remote.mr.bytes.fill(REMOTE_FILL);
    return pair;
  };

  for (const [operation, wrong] of ROWS) {
    // An error is told always (protocol/reliable.md 2.7).
    for (const [manner, sendFlags] of [
      ['signaled', SendFlags.SIGNALED],
      ['unsignaled', 0],
    ] as const) {
      const { status } = WRONG[wrong];
      test(`of ${manner} ${operation} with ${wrong} end in ${statusName(status)} and change nothing`, () => {
        using pair = open();
        const { local, remote } = pair;
        if (operation === 'SEND') remote.qp.postRecv({ sgList: [remote.mr.sge()] });
        local.qp.postSend({ ...request(operation, local, remote, wrong), wrId: 9, sendFlags });
        const wc = pollOne(local.cq);
        assertStatus(local, wc, status);
        assert.deepEqual([wc.wrId, wc.qpNum], [9n, local.qp.qpNum]);
        assert.deepEqual(local.mr.bytes, new Uint8Array(PAGE).fill(LOCAL_FILL));
        assert.deepEqual(remote.mr.bytes, new Uint8Array(PAGE).fill(REMOTE_FILL));
      });
    }
  }

  test('behind one with a wrong L_Key are flushed, in order, and the peer does not notice', () => {
    using pair = open();
    const { local, remote } = pair;
    local.qp.postSend([
      { ...request('READ', local, remote, 'an L_Key that nothing has'), wrId: 1 },
      { opcode: RDMA_WRITE, wrId: 2, sgList: [local.mr.sge()], rdma: remoteOf(remote.mr) },
    ]);
    const [first, second] = pollUntil(local.cq, 2);
    assertStatus(local, first, LOC_PROT_ERR);
    assertStatus(local, second, WR_FLUSH_ERR);
    assert.deepEqual([first.wrId, second.wrId], [1n, 2n]);
    assert.equal(local.qp.query().attr.qpState, QpState.ERR);
    assert.equal(remote.qp.query().attr.qpState, QpState.RTS);
    assert.deepEqual(local.mr.bytes, new Uint8Array(PAGE).fill(LOCAL_FILL));
    assert.deepEqual(remote.mr.bytes, new Uint8Array(PAGE).fill(REMOTE_FILL));
  });

  test('that the peer does not allow at all put both ends in ERR, and what follows is flushed', () => {
    // READs are not among what the QP allows: an invalid request, as an atomic at an odd address would be.
    using pair = new Pair(devices, { bytes: PAGE, remote: { qpAccess: 0 } });
    const { local, remote } = pair;
    remote.mr.bytes.fill(REMOTE_FILL);
    local.qp.postSend({ opcode: RDMA_READ, sgList: [local.mr.sge()], rdma: remoteOf(remote.mr) });
    assertStatus(local, pollOne(local.cq), REM_INV_REQ_ERR);
    waitForState(local.qp, QpState.ERR);
    waitForState(remote.qp, QpState.ERR);
    local.qp.postSend({ opcode: RDMA_WRITE, sgList: [local.mr.sge()], rdma: remoteOf(remote.mr) });
    assertStatus(local, pollOne(local.cq), WR_FLUSH_ERR);
    assert.deepEqual(remote.mr.bytes, new Uint8Array(PAGE).fill(REMOTE_FILL));
    assertEmpty(local.cq);
    assertEmpty(remote.cq);
  });
});
