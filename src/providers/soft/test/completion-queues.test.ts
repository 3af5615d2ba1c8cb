import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  CreateCqAttrFlags,
  QpState,
  QpType,
  SendFlags,
  WcExFlags,
  WcStatus,
  type WorkCompletion,
  WrOpcode,
} from '../../../entry/index.js';
import { connect, drain, drainOne, HOSTINGS, openContexts, Pair } from './support/pair.js';
import { NET } from '../../../../test/support/loopback.js';

const { WITH_COMPLETION_TIMESTAMP, WITH_COMPLETION_TIMESTAMP_WALLCLOCK } = WcExFlags;
const SIGNALED_WRITE = { opcode: WrOpcode.RDMA_WRITE, sendFlags: SendFlags.SIGNALED } as const;
const PATIENCE_MS = 60_000;

/** Has `a` complete `count` requests, numbered from `from`, and waits for the last without polling its CQ. */
function complete({ a, b }: Pair, from: number, count: number): void {
  const rdma = { remoteAddr: b.mr.addr, rkey: b.mr.rkey };
  const before = a.context.counters()['completions'] ?? 0;
  a.qp.postSend(Array.from({ length: count }, (_, i) => ({ ...SIGNALED_WRITE, wrId: from + i, rdma })));
  const begun = performance.now();
  while ((a.context.counters()['completions'] ?? 0) < before + count) {
    // Moves the inline and the simulated NICs on, too.
    b.cq.poll();
    if (performance.now() - begun > PATIENCE_MS) throw new Error('the requests did not complete');
  }
}

const ids = (completions: readonly WorkCompletion[]): number[] => completions.map(({ wrId }) => Number(wrId));

for (const hosting of HOSTINGS) {
  describe(`completion queues, hosted ${hosting}`, () => {
    test('keep what is in them when they are resized, and go on', () => {
      using pair = new Pair(hosting, NET, { cqe: 8 });
      const { cq } = pair.a;
      assert.equal(cq.cqe, 8);
      complete(pair, 0, 3);
      assert.deepEqual(ids(cq.poll(1)), [0]);
      complete(pair, 3, 5);
      cq.resize(100);
      assert.equal(cq.cqe, 128);
      complete(pair, 8, 20);
      assert.throws(() => cq.resize(26), { errno: 'EINVAL', call: 'ibv_resize_cq' });
      assert.deepEqual(
        ids(drain(cq, 20)),
        Array.from({ length: 20 }, (_, i) => 1 + i),
      );
      cq.resize(7);
      assert.equal(cq.cqe, 8);
      assert.deepEqual(ids(drain(cq, 7)), [21, 22, 23, 24, 25, 26, 27]);
      complete(pair, 28, 8);
      assert.equal(drain(cq, 8).length, 8);
    });

    test('stand where they are when they are resized in the midst of a poll', () => {
      using pair = new Pair(hosting, NET, { cqe: 8 });
      const { cq } = pair.a;
      complete(pair, 0, 5);
      assert.deepEqual(ids(drain(cq, 3)), [0, 1, 2]);
      complete(pair, 5, 5);
      while (!cq.startPoll());
      const seen = [cq.wrIdNumber];
      cq.resize(100);
      seen.push(cq.wrIdNumber);
      complete(pair, 10, 50);
      while (seen.length < 58) {
        if (!cq.nextPoll()) continue;
        seen.push(cq.wrIdNumber);
        if (seen.length === 10) cq.resize(60);
      }
      assert.deepEqual(seen, [3, ...Array.from({ length: 57 }, (_, i) => 3 + i)]);
      cq.endPoll();
      cq.resize(1);
      assert.equal(cq.startPoll(), false);
    });

    test('keep an event armed when they are resized', () => {
      using pair = new Pair(hosting, NET);
      const { cq, channel } = pair.a;
      cq.reqNotify();
      cq.resize(512);
      complete(pair, 0, 1);
      assert.equal(channel.getCqEvent(PATIENCE_MS), cq);
      cq.ackEvents();
    });

    test('hold their events back until enough has completed, or for long enough', () => {
      using pair = new Pair(hosting, NET);
      const { cq, channel } = pair.a;
      cq.modify({ moderate: { cqCount: 3, cqPeriod: 0 } });
      cq.reqNotify();
      complete(pair, 0, 2);
      assert.equal(channel.tryGetCqEvent(), undefined);
      complete(pair, 2, 1);
      assert.equal(channel.getCqEvent(PATIENCE_MS), cq);
      cq.modify({ moderate: { cqCount: 100, cqPeriod: 1000 } });
      cq.reqNotify();
      complete(pair, 3, 1);
      assert.equal(channel.getCqEvent(PATIENCE_MS), cq);
      cq.modify({ moderate: { cqCount: 0, cqPeriod: 0 } });
      cq.reqNotify();
      complete(pair, 4, 1);
      assert.equal(channel.getCqEvent(PATIENCE_MS), cq);
      cq.ackEvents(3);
    });

    test('tell when a request completed, in ticks and since 1970', () => {
      const [first, second] = openContexts(hosting, NET);
      const pd = first.allocPd();
      const wcFlags = WITH_COMPLETION_TIMESTAMP | WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
      const cq = first.createCq({ cqe: 16, wcFlags });
      const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq });
      const peer = second
        .allocPd()
        .createQp({ qpType: QpType.RC, sendCq: second.createCq({ cqe: 1 }), recvCq: second.createCq({ cqe: 4 }) });
      connect(qp, { qpNum: peer.qpNum, dgid: second.queryGid(1, 0) });
      connect(peer, { qpNum: qp.qpNum, dgid: first.queryGid(1, 0) });
      const before = first.queryRtValues().rawClock;
      const wallBefore = hosting === 'simulated' ? before : BigInt(Date.now()) * 1_000_000n;
      peer.postRecv([{}, {}, {}]);
      // The NIC looks at its clock once a turn, and may be in the midst of one: that is over when this is done.
      qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED });
      drainOne(cq);
      qp.postSend([
        { opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED },
        { opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED },
      ]);
      const { completionTimestamp: at = 0n } = drainOne(cq);
      while (!cq.startPoll());
      const { completionTimestamp: next, completionWallclockNs: wall } = cq;
      assert.equal(cq.workCompletion().completionTimestamp, next);
      cq.endPoll();
      const after = first.queryRtValues().rawClock;
      assert.ok(before <= at && at <= next && next <= after, `${before} ${at} ${next} ${after}`);
      // Of this century, and within a minute of now.
      const off = wall - wallBefore;
      assert.ok(off > -60_000_000_000n && off < 60_000_000_000n, String(off));
      qp.modify({ qpState: QpState.ERR });
      qp.postRecv({});
      const flushed = drainOne(cq);
      assert.deepEqual([flushed.status, flushed.completionTimestamp], [WcStatus.WR_FLUSH_ERR, undefined]);
      first.close();
      second.close();
    });

    test('lose what finds no room without a word, where that was asked for', () => {
      const [first, second] = openContexts(hosting, NET);
      const pd = first.allocPd();
      const cq = first.createCq({ cqe: 2, flags: CreateCqAttrFlags.IGNORE_OVERRUN });
      const qp = pd.createQp({ qpType: QpType.UC, sendCq: cq, recvCq: cq, sqSigAll: true });
      const route = { ahAttr: { grh: { dgid: second.queryGid(1, 0) } } };
      qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
      qp.modify({ qpState: QpState.RTR, pathMtu: 3, destQpNum: 99, rqPsn: 0, ...route });
      qp.modify({ qpState: QpState.RTS, sqPsn: 0 });
      for (let i = 0; i < 6; i += 1) qp.postSend({ wrId: i, opcode: WrOpcode.SEND });
      const begun = performance.now();
      const idle = second.createCq({ cqe: 1 });
      while ((first.counters()['rdma_sends'] ?? 0) < 6 && performance.now() - begun < PATIENCE_MS) idle.poll();
      assert.deepEqual(ids(drain(cq, 2)), [0, 1]);
      assert.equal(qp.state, QpState.RTS);
      first.close();
      second.close();
    });
  });
}

test('a completion queue that cannot be is refused, and so are changes of one', () => {
  using pair = new Pair('simulated', NET);
  const { context, cq } = pair.a;
  const { maxCqe } = context.queryDevice();
  const { maxCqCount, maxCqPeriod } = context.queryDeviceEx().cqModCaps;
  for (const init of [
    { cqe: 1, wcFlags: 1 << 12 },
    { cqe: 1, flags: 4 },
    { cqe: 1, compVector: 1 },
  ])
    assert.throws(() => context.createCq(init), { errno: 'EINVAL', call: 'ibv_create_cq' });
  for (const wcFlags of [WcExFlags.WITH_CVLAN, WcExFlags.WITH_FLOW_TAG, WcExFlags.WITH_TM_INFO])
    assert.throws(() => context.createCq({ cqe: 1, wcFlags }), { errno: 'EOPNOTSUPP', call: 'ibv_create_cq' });
  for (const cqe of [0, -1, 1.5, maxCqe + 1])
    assert.throws(() => cq.resize(cqe), { errno: 'EINVAL', call: 'ibv_resize_cq' });
  for (const moderate of [
    { cqCount: maxCqCount + 1, cqPeriod: 0 },
    { cqCount: 0, cqPeriod: maxCqPeriod + 1 },
    { cqCount: -1, cqPeriod: 0 },
  ])
    assert.throws(() => cq.modify({ moderate }), { errno: 'EINVAL', call: 'ibv_modify_cq' });
  complete(pair, 0, 1);
  assert.ok(cq.startPoll());
  assert.deepEqual([cq.completionTimestamp, cq.completionWallclockNs, cq.slid, cq.sl, cq.cvlan], [0n, 0n, 0, 0, 0]);
  assert.equal(cq.workCompletion().completionTimestamp, undefined);
  cq.endPoll();
  const ended = context.createCq({ cqe: 1 });
  ended.destroy();
  assert.throws(() => ended.resize(2), { errno: 'EINVAL' });
  assert.throws(() => ended.modify({ moderate: { cqCount: 1, cqPeriod: 1 } }), { errno: 'EINVAL' });
});
