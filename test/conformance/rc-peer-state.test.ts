import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QpState, qpStateStr, type SendWr, WcStatus, WrOpcode } from '../../src/index.js';
import { conformance } from './provider.js';
import {
  assertStatus,
  bringUp,
  End,
  Pair,
  perform,
  readU64,
  remoteOf,
  targetOf,
  toInit,
  toRtr,
  toRts,
  useDevices,
  writeU64,
} from './support.js';

const { RDMA_READ, RDMA_WRITE, ATOMIC_FETCH_AND_ADD, ATOMIC_CMP_AND_SWP } = WrOpcode;
const { RESET, INIT, RTR, RTS, ERR } = QpState;

type Request = (local: End, remote: End) => SendWr;

/** Requests that need no receive request, with what the peer has after each, of 5 before. */
const REQUESTS: readonly (readonly [name: string, after: bigint, request: Request])[] = [
  ['READ', 5n, (local, remote) => ({ opcode: RDMA_READ, sgList: [local.mr.sge(0, 8)], rdma: remoteOf(remote.mr) })],
  ['WRITE', 7n, (local, remote) => ({ opcode: RDMA_WRITE, sgList: [local.mr.sge(0, 8)], rdma: remoteOf(remote.mr) })],
  [
    'FETCH_ADD',
    15n,
    (local, remote) => ({
      opcode: ATOMIC_FETCH_AND_ADD,
      sgList: [local.mr.sge(0, 8)],
      atomic: { ...remoteOf(remote.mr), compareAdd: 10n },
    }),
  ],
  [
    'CMP_SWAP',
    9n,
    (local, remote) => ({
      opcode: ATOMIC_CMP_AND_SWP,
      sgList: [local.mr.sge(0, 8)],
      atomic: { ...remoteOf(remote.mr), compareAdd: 5n, swap: 9n },
    }),
  ],
];

/** Brings the remote QP as far as `state`. */
function bringTo(state: QpState, { remote, local }: { readonly remote: End; readonly local: End }): void {
  if (state !== RESET) toInit(remote.qp);
  if (state === ERR) remote.qp.modify({ qpState: ERR });
  if (state === RTR || state === RTS) toRtr(remote.qp, targetOf(local));
  if (state === RTS) toRts(remote.qp);
}

conformance('RC to a peer', (provider) => {
  const devices = useDevices(provider);

  for (const state of [RESET, INIT, RTR, RTS, ERR]) {
    const answers = state === RTR || state === RTS;
    for (const [name, after, request] of REQUESTS) {
      const outcome = answers ? 'succeeds' : 'ends in RETRY_EXC_ERR';
      test(`in state ${qpStateStr(state)}, ${name} ${outcome}`, () => {
        using local = new End(devices[0]);
        using remote = new End(devices[1]);
        bringTo(state, { local, remote });
        bringUp(local.qp, targetOf(remote), answers ? {} : { timeout: 8, retryCnt: 1 });
        writeU64(local.mr, 7n);
        writeU64(remote.mr, 5n);
        const wc = perform(local, request(local, remote));
        assertStatus(local, wc, answers ? WcStatus.SUCCESS : WcStatus.RETRY_EXC_ERR);
        assert.equal(readU64(remote.mr), answers ? after : 5n);
        assert.equal(remote.qp.query().attr.qpState, state);
      });
    }
  }

  test('that has just been connected, both ends are in RTS', () => {
    using pair = new Pair(devices);
    assert.equal(pair.local.qp.query().attr.qpState, RTS);
    assert.equal(pair.remote.qp.query().attr.qpState, RTS);
  });
});
