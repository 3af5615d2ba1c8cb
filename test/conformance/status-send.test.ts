import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AccessFlags,
  gidFromIp,
  Mtu,
  MwType,
  QpState,
  QpType,
  SelectivityLevel,
  SendFlags,
  Syndrome,
  WcOpcode,
  WcStatus,
  WrOpcode,
} from '../../src/entry/index.js';
import { bind, readOf, strangeRegion, windowOf, wholeOf, writeOf } from './memory-support.js';
import { conformance } from './provider.js';
import { ACK_AETH, HandPeer } from './status-hand-peer.js';
import { assertOutcome, hex } from './status-support.js';
import {
  ALL_ACCESS,
  assertEmpty,
  BOGUS_KEY,
  bringUp,
  End,
  handleTo,
  Pair,
  perform,
  pollOne,
  pollUntil,
  QKEY,
  remoteOf,
  targetOf,
  toInit,
  toRts,
  useDevices,
} from './support.js';

const { ERR, RTS, SQD, SQE } = QpState;
const { SEND, RDMA_WRITE, RDMA_READ, LOCAL_INV } = WrOpcode;
const READ_RESPONSE_ONLY = 0x10;
const ATOMIC_ACKNOWLEDGE = 0x12;
const MTU = 4096;

/** What a datagram from one end to another has beside the rest. */
function to(
  from: End,
  remote: End,
): { ud: { ah: ReturnType<typeof handleTo>; remoteQpn: number; remoteQkey: number } } {
  return { ud: { ah: handleTo(from, remote), remoteQpn: remote.qp.qpNum, remoteQkey: QKEY } };
}

conformance('a send request ends in', (provider) => {
  const byHand = provider.isVirtual && 'the peer is a socket, and a simulation has none';
  const devices = useDevices(provider);
  /** A peer on this machine may only sleep, and is sent all once more without a retry. */
  const sent = (times: number): number => (provider.isVirtual ? times : times + 1);

  test('SUCCESS when it was carried out', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const wc = perform(local, writeOf(local.mr, remoteOf(remote.mr), 24));
    assertOutcome(local, wc, WcStatus.SUCCESS, Syndrome.NONE, ['24 bytes']);
    assert.equal(local.qp.query().attr.qpState, RTS);
  });

  test('LOC_LEN_ERR when a datagram is longer than a packet', () => {
    using pair = new Pair(devices, { qpType: QpType.UD });
    const { local, remote } = pair;
    const wc = perform(local, { opcode: SEND, sgList: [local.mr.sge(0, MTU + 1)], ...to(local, remote) });
    assertOutcome(local, wc, WcStatus.LOC_LEN_ERR, Syndrome.LOCAL_MESSAGE_TOO_LONG, [`${MTU + 1}`, `${MTU}`]);
    assert.equal(local.qp.query().attr.qpState, SQE);
    assertEmpty(remote.cq);
  });

  test('LOC_QP_OP_ERR when it is a READ where the QP may have none outstanding', () => {
    using pair = new Pair(devices, { local: { maxRdAtomic: 0 } });
    const { local, remote } = pair;
    const wc = perform(local, readOf(local.mr, remoteOf(remote.mr)));
    assertOutcome(local, wc, WcStatus.LOC_QP_OP_ERR, Syndrome.LOCAL_BAD_WQE, ['1 piece']);
    assert.equal(local.qp.query().attr.qpState, ERR);
  });

  test('LOC_QP_OP_ERR when its address handle was ended before it was sent', () => {
    using pair = new Pair(devices, { qpType: QpType.UD });
    const { local, remote } = pair;
    const ud = { ...to(local, remote).ud, ah: local.pd.createAh({ grh: { dgid: remote.context.queryGid(1, 0) } }) };
    local.qp.modify({ qpState: SQD });
    local.qp.postSend({ opcode: SEND, ud, sendFlags: SendFlags.SIGNALED });
    ud.ah.destroy();
    local.qp.modify({ qpState: RTS });
    assertOutcome(local, pollOne(local.cq), WcStatus.LOC_QP_OP_ERR, Syndrome.LOCAL_AH_UNKNOWN, [/handle \d+/]);
  });

  for (const qpType of ['RC', 'UC', 'UD'] as const) {
    test(`LOC_PROT_ERR when its memory has another key, on ${qpType}`, () => {
      using pair = new Pair(devices, { qpType: QpType[qpType] });
      const { local, remote } = pair;
      const destination = qpType === 'UD' ? to(local, remote) : {};
      const sgList = [local.mr.sge(0, 4), { ...local.mr.sge(16, 48), lkey: BOGUS_KEY }];
      const wc = perform(local, { opcode: SEND, sgList, ...destination });
      const numbers = [hex(BOGUS_KEY), 'sgList[1]', '48 bytes', hex(local.mr.iova + 16n)];
      assertOutcome(local, wc, WcStatus.LOC_PROT_ERR, Syndrome.LOCAL_KEY_UNKNOWN, numbers);
      assert.equal(local.qp.query().attr.qpState, qpType === 'RC' ? ERR : SQE);
    });
  }

  test('LOC_PROT_ERR when its memory is of another protection domain', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const strange = strangeRegion(local);
    const wc = perform(local, writeOf(strange, remoteOf(remote.mr)));
    assertOutcome(local, wc, WcStatus.LOC_PROT_ERR, Syndrome.LOCAL_KEY_PD, [hex(strange.lkey), '8 bytes']);
  });

  test('LOC_PROT_ERR when it fills memory that nobody may write to', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const closed = local.region(64, 0);
    const wc = perform(local, readOf(closed, remoteOf(remote.mr)));
    assertOutcome(local, wc, WcStatus.LOC_PROT_ERR, Syndrome.LOCAL_KEY_ACCESS, [hex(closed.lkey), 'LOCAL_WRITE']);
  });

  test('LOC_PROT_ERR when its memory is not all inside the region', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const sge = { ...local.mr.sge(), length: local.mr.length + 1 };
    const wc = perform(local, { opcode: RDMA_WRITE, sgList: [sge], rdma: remoteOf(remote.mr) });
    const numbers = [hex(local.mr.lkey), `${sge.length} bytes`];
    assertOutcome(local, wc, WcStatus.LOC_PROT_ERR, Syndrome.LOCAL_KEY_RANGE, numbers);
  });

  test('WR_FLUSH_ERR when the QP was in ERR before it was carried out', () => {
    using pair = new Pair(devices);
    const { local } = pair;
    local.qp.modify({ qpState: ERR });
    assertOutcome(local, perform(local, { opcode: SEND }), WcStatus.WR_FLUSH_ERR, Syndrome.FLUSHED, ['ERR', 'modify']);
  });

  test('WR_FLUSH_ERR when one before it failed', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const rdma = { ...remoteOf(remote.mr), rkey: BOGUS_KEY };
    local.qp.postSend([writeOf(local.mr, rdma), writeOf(local.mr, remoteOf(remote.mr))]);
    const wc = pollUntil(local.cq, 2)[1];
    assertOutcome(local, wc, WcStatus.WR_FLUSH_ERR, Syndrome.FLUSHED, ['ERR', 'refused access']);
  });

  for (const [name, type] of Object.entries(MwType)) {
    test(`MW_BIND_ERR when the region does not allow windows of ${name}`, () => {
      using pair = new Pair(devices, { access: ALL_ACCESS & ~AccessFlags.MW_BIND });
      const { local } = pair;
      const mw = windowOf(local, type);
      const { wc } = bind(local, mw, wholeOf(local.mr));
      const numbers = [hex(local.mr.lkey), `${local.mr.length} bytes`, hex(local.mr.iova), 'MW_BIND'];
      assertOutcome(local, wc, WcStatus.MW_BIND_ERR, Syndrome.MW_BIND, numbers);
      assert.equal(wc.opcode, WcOpcode.BIND_MW);
    });
  }

  test('MW_BIND_ERR when it invalidates a key that cannot be', () => {
    using pair = new Pair(devices);
    const { local } = pair;
    const wc = perform(local, { opcode: LOCAL_INV, invalidateRkey: BOGUS_KEY });
    assertOutcome(local, wc, WcStatus.MW_BIND_ERR, Syndrome.LOCAL_INVALIDATE, [hex(BOGUS_KEY)]);
  });

  test('REM_INV_REQ_ERR when the peer’s QP does not allow it', () => {
    using pair = new Pair(devices, { remote: { qpAccess: 0 } });
    const { local, remote } = pair;
    const wc = perform(local, readOf(local.mr, remoteOf(remote.mr), 40));
    const numbers = ['40 bytes', 'PSN 0x0', hex(remote.qp.qpNum), remote.context.address];
    assertOutcome(local, wc, WcStatus.REM_INV_REQ_ERR, Syndrome.REMOTE_INVALID_REQUEST, numbers);
  });

  test('REM_INV_REQ_ERR when the peer’s receive request is shorter than the message', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    remote.qp.postRecv({ sgList: [remote.mr.sge(0, 15)] });
    const wc = perform(local, { opcode: SEND, sgList: [local.mr.sge(0, 16)] });
    assertOutcome(local, wc, WcStatus.REM_INV_REQ_ERR, Syndrome.REMOTE_INVALID_REQUEST, ['16 bytes', 'long enough']);
  });

  test('REM_ACCESS_ERR when the peer’s memory is not all there', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const rdma = remoteOf(remote.mr, remote.mr.length - 4);
    const wc = perform(local, writeOf(local.mr, rdma));
    const numbers = [hex(remote.mr.rkey), hex(BigInt(rdma.remoteAddr)), '8 bytes', hex(remote.qp.qpNum)];
    assertOutcome(local, wc, WcStatus.REM_ACCESS_ERR, Syndrome.REMOTE_ACCESS, numbers);
  });

  test('REM_ACCESS_ERR when the peer’s region lacks what a FLUSH needs', () => {
    const flushing = AccessFlags.REMOTE_WRITE | AccessFlags.FLUSH_GLOBAL;
    using pair = new Pair(devices, { remote: { qpAccess: flushing } });
    const { local, remote } = pair;
    const flush = { length: 8, type: 1, level: SelectivityLevel.FLUSH_RANGE };
    const wc = perform(local, { opcode: WrOpcode.FLUSH, rdma: remoteOf(remote.mr), flush });
    assertOutcome(local, wc, WcStatus.REM_ACCESS_ERR, Syndrome.REMOTE_ACCESS, [hex(remote.mr.rkey), 'FLUSH_GLOBAL']);
  });

  test('REM_OP_ERR when the peer cannot fill its own receive request', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    remote.qp.postRecv({ sgList: [{ ...remote.mr.sge(), lkey: BOGUS_KEY }] });
    const wc = perform(local, { opcode: SEND, sgList: [local.mr.sge(0, 16)] });
    const numbers = ['PSN 0x0', hex(remote.qp.qpNum), remote.context.address];
    assertOutcome(local, wc, WcStatus.REM_OP_ERR, Syndrome.REMOTE_OPERATIONAL, numbers);
  });

  test('RETRY_EXC_ERR when the peer stays silent', () => {
    using local = new End(devices[0]);
    using remote = new End(devices[1]);
    bringUp(local.qp, targetOf(remote), { timeout: 8, retryCnt: 2, sqPsn: 0xabc });
    const wc = perform(local, writeOf(local.mr, remoteOf(remote.mr)));
    const numbers = [`${sent(3)} transmissions of PSN 0xabc`, hex(remote.qp.qpNum), remote.context.address];
    assertOutcome(local, wc, WcStatus.RETRY_EXC_ERR, Syndrome.RETRY_TIMEOUT, numbers);
    assert.equal(local.qp.query().attr.qpState, ERR);
  });

  test('RETRY_EXC_ERR when the peer asks for another packet again and again', () => {
    using pair = new Pair(devices, { local: { sqPsn: 10, timeout: 8, retryCnt: 1 }, remote: { rqPsn: 5 } });
    const { local, remote } = pair;
    const wc = perform(local, writeOf(local.mr, remoteOf(remote.mr)));
    // What it asks for was never sent, so that all of its NAKs count for nothing.
    assertOutcome(local, wc, WcStatus.RETRY_EXC_ERR, Syndrome.RETRY_TIMEOUT, [`${sent(2)} transmissions of PSN 0xa `]);
  });

  test('RNR_RETRY_EXC_ERR when the peer has no receive request', () => {
    using pair = new Pair(devices, { rnrRetry: 2, minRnrTimer: 2 });
    const { local, remote } = pair;
    const wc = perform(local, { opcode: SEND });
    const numbers = ['3 transmissions', 'PSN 0x0', '20 µs', hex(remote.qp.qpNum), remote.context.address];
    assertOutcome(local, wc, WcStatus.RNR_RETRY_EXC_ERR, Syndrome.RNR_EXCEEDED, numbers);
  });

  /** Answers `opcode` by hand with a packet of `answer`. */
  const answered = async (
    opcode: typeof RDMA_WRITE | typeof RDMA_READ,
    answer: number,
    body: Uint8Array,
    numbers: readonly string[],
  ): Promise<void> => {
    using local = new End(devices[0]);
    using peer = await HandPeer.open();
    const { qp, mr, cq, context } = local;
    toInit(qp);
    qp.modify({
      qpState: QpState.RTR,
      pathMtu: Mtu.MTU_1024,
      destQpNum: 0x77,
      rqPsn: 0,
      ahAttr: { grh: { dgid: gidFromIp(peer.address) } },
      maxDestRdAtomic: 1,
      minRnrTimer: 1,
    });
    toRts(qp, { sqPsn: 0x1234 });
    const rdma = { remoteAddr: 0x1000n, rkey: 1 };
    const { psn } = await peer.receive(() => qp.postSend({ opcode, sgList: [mr.sge(0, 8)], rdma }));
    assert.equal(psn, 0x1234);
    await peer.send(context.address, qp.qpNum, { opcode: answer, psn, body });
    assertOutcome(local, pollOne(cq), WcStatus.BAD_RESP_ERR, Syndrome.BAD_RESPONSE, ['PSN 0x1234', ...numbers]);
    assert.equal(qp.query().attr.qpState, ERR);
  };

  test('BAD_RESP_ERR when a WRITE is answered as an atomic is', { skip: byHand }, async () => {
    await answered(RDMA_WRITE, ATOMIC_ACKNOWLEDGE, Uint8Array.of(...ACK_AETH, 0, 0, 0, 0, 0, 0, 0, 1), [
      '0x12',
      'WRITE',
    ]);
  });

  test('BAD_RESP_ERR when a READ is answered with another number of bytes', { skip: byHand }, async () => {
    await answered(RDMA_READ, READ_RESPONSE_ONLY, Uint8Array.of(...ACK_AETH, 1, 2, 3, 4), ['0x10', 'READ']);
  });
});
