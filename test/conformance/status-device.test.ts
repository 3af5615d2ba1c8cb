import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QpState, QpType, SendFlags, Syndrome, WcStatus, WrOpcode } from '../../src/entry/index.js';
import { administer, SimulatedCluster } from '../../src/entry/sim.js';
import { conformance } from './provider.js';
import { assertOutcome } from './status-support.js';
import { bringUp, End, pollUntil, targetOf } from './support.js';

const SENT = 1;
const POSTED = 2;

/** Statuses that no scenario of status-send, status-receive and this file reaches, and why. */
const NOT_REACHED = {
  LOC_EEC_OP_ERR: 'of RD alone, which no adapter has',
  LOC_RDD_VIOL_ERR: 'of RD alone',
  REM_INV_RD_REQ_ERR: 'of RD alone',
  REM_ABORT_ERR: 'of RD alone',
  INV_EECN_ERR: 'of RD alone',
  INV_EEC_STATE_ERR: 'of RD alone',
  RESP_TIMEOUT_ERR: 'a relic: a peer that is silent ends in RETRY_EXC_ERR',
  TM_ERR: 'of tag matching, which the device does not have',
  TM_RNDV_INCOMPLETE: 'of tag matching',
} as const satisfies Partial<Record<keyof typeof WcStatus, string>>;

/** Those that are reached, on the side where protocol/reliable.md 2.10 has them. */
const REACHED = {
  SUCCESS: 'both',
  LOC_LEN_ERR: 'both',
  // The table has it for receive requests that make no sense; those are refused while posting here.
  LOC_QP_OP_ERR: 'send',
  LOC_PROT_ERR: 'both',
  WR_FLUSH_ERR: 'both',
  MW_BIND_ERR: 'send',
  BAD_RESP_ERR: 'send',
  LOC_ACCESS_ERR: 'receive',
  REM_INV_REQ_ERR: 'both',
  REM_ACCESS_ERR: 'send',
  REM_OP_ERR: 'send',
  RETRY_EXC_ERR: 'send',
  RNR_RETRY_EXC_ERR: 'send',
  FATAL_ERR: 'both',
  // What is received comes through the link, so that it cannot have been refused by it.
  GENERAL_ERR: 'send',
} as const satisfies Record<Exclude<keyof typeof WcStatus, keyof typeof NOT_REACHED>, string>;

conformance('statuses of completions', (provider) => {
  test('are each reached by a scenario, or cannot be', () => {
    assert.deepEqual(
      Object.keys(WcStatus).filter((name) => !(name in REACHED) && !(name in NOT_REACHED)),
      [],
    );
    assert.deepEqual(
      Object.keys(REACHED).filter((name) => name in NOT_REACHED),
      [],
    );
  });

  test('are FATAL_ERR on both sides for all that was posted when the device failed', () => {
    using context = provider.open();
    const peer = provider.open();
    const local = new End(context);
    const remote = new End(peer);
    bringUp(local.qp, targetOf(remote));
    // Nobody answers any more, so that the request is still there.
    peer.close();
    const { qp, mr, cq } = local;
    qp.postSend({ opcode: WrOpcode.SEND, wrId: SENT, sgList: [mr.sge(0, 8)] });
    qp.postRecv({ wrId: POSTED });
    administer(context, { fatal: true });
    const completions = pollUntil(cq, 2);
    for (const wc of completions) {
      assert.equal(wc.status, WcStatus.FATAL_ERR);
      assert.match(context.explain(wc), /device failed|error state|ERR/);
    }
    assert.deepEqual(new Set(completions.map(({ wrId }) => Number(wrId))), new Set([SENT, POSTED]));
    assert.equal(qp.state, QpState.ERR);
  });

  test('are GENERAL_ERR for a frame that the link refuses', () => {
    using context = new SimulatedCluster({ seed: 1 }).open('10.0.0.1');
    using end = new End(context, { qpType: QpType.RAW_PACKET, bytes: 65536 });
    const { qp, mr, cq } = end;
    bringUp(qp);
    const frame = { opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED } as const;
    qp.postSend([
      { ...frame, sgList: [mr.sge(0, 60000)] },
      { ...frame, sgList: [mr.sge(0, 60)] },
    ]);
    const [refused, flushed] = pollUntil(cq, 2);
    assertOutcome(end, refused, WcStatus.GENERAL_ERR, Syndrome.LINK_REFUSED, ['60000 bytes', 'EMSGSIZE']);
    assertOutcome(end, flushed, WcStatus.WR_FLUSH_ERR, Syndrome.FLUSHED, ['the link refused a packet']);
    assert.equal(qp.query().attr.qpState, QpState.SQE);
  });
});
