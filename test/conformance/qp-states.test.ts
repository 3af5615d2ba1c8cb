import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Context,
  PostError,
  QpState,
  qpStateStr,
  QpType,
  SendFlags,
  type SendWr,
  WcOpcode,
  WcStatus,
  WrOpcode,
} from '../../src/entry/index.js';
import { readOf, reconnect, Stream } from './memory-support.js';
import { conformance } from './provider.js';
import { bringTo, failSending, Workshop } from './qp-support.js';
import {
  assertEmpty,
  assertErrno,
  assertStatus,
  assertSuccess,
  bringUp,
  End,
  handleTo,
  Pair,
  type PathOptions,
  perform,
  pollOne,
  pollUntil,
  QKEY,
  remoteOf,
  targetOf,
  toInit,
  toRtr,
  toRts,
  useDevices,
  waitForState,
} from './support.js';

const { RESET, INIT, RTR, RTS, SQD, SQE, ERR } = QpState;
const { RETRY_EXC_ERR, WR_FLUSH_ERR } = WcStatus;
const { SEND } = WrOpcode;

const BATCH = 32;
/** For peers that never answer. */
const IMPATIENT: PathOptions = { timeout: 8, retryCnt: 1 };

interface Ends extends Disposable {
  readonly local: End;
  readonly remote: End;
}

/** A local end in RTS, and a remote one as far as `state`. */
function towards(devices: readonly Context[], state: QpState): Ends {
  const local = new End(devices[0]);
  const remote = local.keep(new End(devices[1]));
  if (state !== RESET) toInit(remote.qp);
  if (state === RTR || state === RTS) toRtr(remote.qp, targetOf(local));
  if (state === RTS) toRts(remote.qp);
  bringUp(local.qp, targetOf(remote), state === RTR || state === RTS ? {} : IMPATIENT);
  return { local, remote, [Symbol.dispose]: () => local[Symbol.dispose]() };
}

const statusesOf = (completions: readonly { readonly status: WcStatus }[]): WcStatus[] =>
  completions.map(({ status }) => status);

conformance('queue pairs by state', (provider) => {
  const devices = useDevices(provider);

  for (const state of [RESET, INIT, RTR, RTS, SQD, ERR]) {
    for (const type of ['RC', 'UD'] as const) {
      test(`of type ${type} in ${qpStateStr(state)} can be ended`, () => {
        using shop = new Workshop(devices[0]);
        const qp = shop.make(type);
        bringTo(qp, state);
        qp.destroy();
        assertErrno('EINVAL', () => qp.query());
      });
    }
  }

  test('in SQE can be ended', () => {
    using end = new End(devices[0], { qpType: QpType.UC });
    bringTo(end.qp, RTS);
    failSending(end);
    end.qp.destroy();
  });

  test('from RTS to ERR need nothing but the state', () => {
    using pair = new Pair(devices);
    pair.local.qp.modify({ qpState: ERR });
    assert.equal(pair.local.qp.query().attr.qpState, ERR);
    assert.equal(pair.local.qp.state, ERR);
  });

  test('can be used anew after ERR and RESET', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const read = readOf(local.mr, remoteOf(remote.mr));
    assertSuccess(local, perform(local, read));
    for (const { qp } of [local, remote]) qp.modify({ qpState: ERR });
    reconnect(pair);
    assertSuccess(local, perform(local, read));
  });

  test('go on while a thousand others are made and ended', () => {
    using pair = new Pair(devices);
    using shop = new Workshop(devices[0]);
    const { local, remote } = pair;
    const stream = new Stream(local, BATCH, readOf(local.mr, remoteOf(remote.mr)));
    const cap = { maxSendWr: 1, maxRecvWr: 1 };
    for (let i = 0; i < 1000; i += 1) {
      const { pd, cq } = shop;
      pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap }).destroy();
      stream.fill();
      if (i % 8 === 0) stream.runUntil(stream.completions.length + 1);
    }
    stream.runUntil(stream.completions.length + BATCH);
    stream.drain();
    assert.deepEqual(new Set(statusesOf(stream.completions)), new Set([WcStatus.SUCCESS]));
  });

  test('answer READs in RTR, and while they go on to RTS', () => {
    using ends = towards(devices, RTR);
    const { local, remote } = ends;
    const stream = new Stream(local, BATCH, readOf(local.mr, remoteOf(remote.mr)));
    stream.runUntil(100);
    stream.fill();
    toRts(remote.qp);
    stream.runUntil(200);
    stream.drain();
    assert.deepEqual(new Set(statusesOf(stream.completions)), new Set([WcStatus.SUCCESS]));
    assert.equal(remote.qp.query().attr.qpState, RTS);
  });

  for (const state of [RESET, INIT, RTR]) {
    test(`in ${qpStateStr(state)} take no send request, and nothing of it is left`, () => {
      using end = new End(devices[0]);
      const { qp } = end;
      bringTo(qp, state);
      assertErrno('EINVAL', () => qp.postSend({ ...readOf(end.mr, remoteOf(end.mr, 64)), wrId: 1 }));
      if (state === RESET) toInit(qp);
      if (state !== RTR) toRtr(qp, targetOf(end));
      toRts(qp);
      const wc = perform(end, { ...readOf(end.mr, remoteOf(end.mr, 64)), wrId: 2 });
      assertSuccess(end, wc);
      assert.equal(wc.wrId, 2n);
      assertEmpty(end.cq);
    });
  }

  test('in RESET take no receive request, and a SEND to them ends in RETRY_EXC_ERR', () => {
    using ends = towards(devices, RESET);
    const { local, remote } = ends;
    assertErrno('EINVAL', () => remote.qp.postRecv({ sgList: [remote.mr.sge(0, 64)] }));
    assertStatus(local, perform(local, { opcode: SEND, sgList: [local.mr.sge(0, 64)] }), RETRY_EXC_ERR);
    assertEmpty(remote.cq);
  });

  test('in INIT take receive requests that no SEND reaches: it ends in RETRY_EXC_ERR', () => {
    using ends = towards(devices, INIT);
    const { local, remote } = ends;
    remote.qp.postRecv({ sgList: [remote.mr.sge(0, 64)] });
    assertStatus(local, perform(local, { opcode: SEND, sgList: [local.mr.sge(0, 64)] }), RETRY_EXC_ERR);
    assertEmpty(remote.cq);
    assert.equal(remote.qp.query().attr.qpState, INIT);
  });

  test('in RTR take receive requests that serve once they are in RTS', () => {
    using ends = towards(devices, RTR);
    const { local, remote } = ends;
    remote.qp.postRecv({ wrId: 5, sgList: [remote.mr.sge(0, 64)] });
    toRts(remote.qp);
    assertSuccess(local, perform(local, { opcode: SEND, sgList: [local.mr.sge(0, 64)] }));
    const received = pollOne(remote.cq);
    assertSuccess(remote, received);
    assert.deepEqual([received.wrId, received.opcode], [5n, WcOpcode.RECV]);
  });

  test('in RTR receive what a peer in RTS sends', () => {
    using ends = towards(devices, RTR);
    const { local, remote } = ends;
    remote.qp.postRecv({ sgList: [remote.mr.sge(0, 64)] });
    const sent = perform(local, { opcode: SEND, sgList: [local.mr.sge(0, 64)] });
    assertSuccess(local, sent);
    assert.equal(sent.opcode, WcOpcode.SEND);
    assertSuccess(remote, pollOne(remote.cq));
  });

  test('in INIT keep receive requests until a message comes', () => {
    using local = new End(devices[0]);
    using remote = new End(devices[1]);
    toInit(remote.qp);
    remote.qp.postRecv({ wrId: 6, sgList: [remote.mr.sge(0, 64)] });
    toRtr(remote.qp, targetOf(local));
    bringUp(local.qp, targetOf(remote));
    assertSuccess(local, perform(local, { opcode: SEND }));
    assert.equal(pollOne(remote.cq).wrId, 6n);
  });

  test('in ERR flush what is posted to either queue', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    local.qp.modify({ qpState: ERR });
    local.qp.postSend({ ...readOf(local.mr, remoteOf(remote.mr)), wrId: 1 });
    const sent = pollOne(local.cq);
    local.qp.postRecv({ wrId: 2, sgList: [local.mr.sge(0, 8)] });
    const received = pollOne(local.cq);
    for (const wc of [sent, received]) assertStatus(local, wc, WR_FLUSH_ERR);
    assert.deepEqual([sent.wrId, received.wrId], [1n, 2n]);
  });

  test('in ERR flush one batch after the other, however late', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const read = readOf(local.mr, remoteOf(remote.mr));
    local.qp.modify({ qpState: ERR });
    for (let round = 0; round < 3; round += 1) {
      local.qp.postSend(Array.from({ length: BATCH }, (_, i): SendWr => ({ ...read, wrId: round * BATCH + i })));
      const flushed = pollUntil(local.cq, BATCH);
      assert.deepEqual(new Set(statusesOf(flushed)), new Set([WR_FLUSH_ERR]));
      assert.deepEqual(
        flushed.map(({ wrId }) => wrId),
        Array.from({ length: BATCH }, (_, i) => BigInt(round * BATCH + i)),
      );
      // Another queue pair is at work meanwhile.
      using other = new Pair(devices);
      assertSuccess(other.local, perform(other.local, readOf(other.local.mr, remoteOf(other.remote.mr))));
    }
  });

  for (const round of ['first', 'second']) {
    test(`that go to ERR amid READs end each well or flushed, and all later ones flushed, on a ${round} pair`, () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const read = readOf(local.mr, remoteOf(remote.mr), 1024);
      const batch = Array.from({ length: BATCH }, (_, i): SendWr => ({
        ...read,
        wrId: i,
        sendFlags: SendFlags.SIGNALED,
      }));
      local.qp.postSend(batch);
      for (const wc of pollUntil(local.cq, BATCH)) assertSuccess(local, wc);
      local.qp.postSend(batch);
      local.qp.modify({ qpState: ERR });
      local.qp.postSend(batch);
      const underWay = statusesOf(pollUntil(local.cq, BATCH));
      const failed = underWay.findIndex((status) => status !== WcStatus.SUCCESS);
      // None succeeds behind one that was flushed.
      const behind = failed < 0 ? [] : underWay.slice(failed);
      assert.ok(behind.every((status) => status === WR_FLUSH_ERR));
      for (const wc of pollUntil(local.cq, BATCH)) assertStatus(local, wc, WR_FLUSH_ERR);
    });
  }

  test('with a full send queue refuse one more request, and name it', () => {
    using pair = new Pair(devices, { cap: { maxSendWr: 8 }, cqe: 1024 });
    const { local, remote } = pair;
    const { maxSendWr } = local.qp.cap;
    const list = Array.from({ length: maxSendWr + 1 }, (_, i): SendWr => ({
      opcode: SEND,
      wrId: i,
      sendFlags: SendFlags.SIGNALED,
    }));
    assert.throws(
      () => local.qp.postSend(list),
      (error) =>
        error instanceof PostError &&
        error.errno === 'ENOMEM' &&
        error.badWr === list[maxSendWr] &&
        error.index === maxSendWr,
    );
    // Those before it are posted.
    remote.qp.postRecv(Array.from({ length: maxSendWr }, () => ({})));
    const sent = pollUntil(local.cq, maxSendWr);
    for (const wc of sent) assertSuccess(local, wc);
    assert.equal(sent[maxSendWr - 1].wrId, BigInt(maxSendWr - 1));
  });

  test('in SQD take send requests and begin them in RTS', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    remote.mr.bytes.fill(7, 128, 136);
    local.qp.modify({ qpState: SQD });
    local.qp.postSend({ ...readOf(local.mr, remoteOf(remote.mr, 128)), sendFlags: SendFlags.SIGNALED });
    // What the peer does is done: it would have answered a READ that was sent.
    remote.qp.postSend({ ...readOf(remote.mr, remoteOf(local.mr, 64)), sendFlags: SendFlags.SIGNALED });
    assertSuccess(remote, pollOne(remote.cq));
    assertEmpty(local.cq);
    local.qp.modify({ qpState: RTS });
    assertSuccess(local, pollOne(local.cq));
    assert.deepEqual([...local.mr.bytes.subarray(0, 8)], new Array<number>(8).fill(7));
  });

  test('in SQD receive and answer', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    remote.qp.modify({ qpState: SQD });
    remote.qp.postRecv({});
    assertSuccess(local, perform(local, { opcode: SEND }));
    assertSuccess(local, perform(local, readOf(local.mr, remoteOf(remote.mr))));
    assertSuccess(remote, pollOne(remote.cq));
  });

  for (const type of ['UC', 'UD'] as const) {
    test(`of type ${type} in SQE flush what is sent, receive, and send again from RTS on`, () => {
      using pair = new Pair(devices, { qpType: QpType[type] });
      const { local, remote } = pair;
      const sendTo = (from: End, to: End): SendWr => {
        const ud = { ah: handleTo(from, to), remoteQpn: to.qp.qpNum, remoteQkey: QKEY };
        return { opcode: SEND, sgList: [from.mr.sge(0, 8)], ...(type === 'UD' ? { ud } : {}) };
      };
      failSending(local);
      assertStatus(local, perform(local, sendTo(local, remote)), WR_FLUSH_ERR);
      local.qp.postRecv({ wrId: 3, sgList: [local.mr.sge(64, 64)] });
      assertSuccess(remote, perform(remote, sendTo(remote, local)));
      assertSuccess(local, pollOne(local.cq));
      assert.equal(local.qp.query().attr.qpState, SQE);
      local.qp.modify({ qpState: RTS });
      remote.qp.postRecv({ sgList: [remote.mr.sge(64, 64)] });
      assertSuccess(local, perform(local, sendTo(local, remote)));
      assertSuccess(remote, pollOne(remote.cq));
    });
  }

  test('forget in RESET what is posted to either queue', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    local.qp.postRecv([{ wrId: 1 }, { wrId: 2 }]);
    local.qp.modify({ qpState: SQD });
    local.qp.postSend({ opcode: SEND, wrId: 3 });
    reconnect(pair);
    local.qp.postRecv({ wrId: 4 });
    assertSuccess(remote, perform(remote, { opcode: SEND }));
    assert.equal(pollOne(local.cq).wrId, 4n);
    assertEmpty(local.cq);
    waitForState(local.qp, RTS);
  });
});
