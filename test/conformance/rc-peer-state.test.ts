import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QpState, qpStateStr, WcStatus } from '../../src/entry/index.js';
import { ONE_SIDED } from './memory-support.js';
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

const { RESET, INIT, RTR, RTS, ERR } = QpState;

const LOCAL = 7n;
const REMOTE = 0n;
/** What the peer has after each request: of these, FETCH_ADD adds 1 and CMP_SWAP makes 0 a 1. */
const AFTER = { READ: REMOTE, WRITE: LOCAL, FETCH_ADD: 1n, CMP_SWAP: 1n } as const;
const REQUESTS = ['READ', 'WRITE', 'FETCH_ADD', 'CMP_SWAP'] as const;

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
    for (const name of REQUESTS) {
      const outcome = answers ? 'succeeds' : 'ends in RETRY_EXC_ERR';
      test(`in state ${qpStateStr(state)}, ${name} ${outcome}`, () => {
        using local = new End(devices[0]);
        using remote = new End(devices[1]);
        bringTo(state, { local, remote });
        bringUp(local.qp, targetOf(remote), answers ? {} : { timeout: 8, retryCnt: 1 });
        writeU64(local.mr, LOCAL);
        writeU64(remote.mr, REMOTE);
        const wc = perform(local, ONE_SIDED[name](local.mr.sge(0, 8), remoteOf(remote.mr)));
        assertStatus(local, wc, answers ? WcStatus.SUCCESS : WcStatus.RETRY_EXC_ERR);
        assert.equal(readU64(remote.mr), answers ? AFTER[name] : REMOTE);
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
