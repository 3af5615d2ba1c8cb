import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  EventType,
  PostError,
  type Qp,
  QpState,
  QpType,
  type Srq,
  SrqType,
  WcStatus,
  WrOpcode,
} from '../../../entry/index.js';
import { connect, drain, drainOne, HOSTINGS, type Hosting, makeSide, openContexts, type Side } from './support/pair.js';
import { NET } from '../../../../test/support/loopback.js';

const PATIENCE_MS = 60_000;

/** Two queue pairs of `b` that take from one shared queue, each with its peer on `a`. */
class Shared implements Disposable {
  readonly a: Side;
  readonly b: Side;
  readonly srq: Srq;
  readonly senders: readonly Qp[];
  readonly takers: readonly Qp[];

  constructor(hosting: Hosting, maxWr = 8) {
    const [first, second] = openContexts(hosting, NET);
    this.a = makeSide(first);
    this.b = makeSide(second);
    const { a, b } = this;
    const srq = b.pd.createSrq({ maxWr, maxSge: 2, srqContext: 'mine' });
    this.srq = srq;
    const make = ({ pd, cq }: Side, more: { readonly srq?: Srq }): Qp =>
      pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, ...more });
    this.senders = [make(a, {}), make(a, {})];
    this.takers = [make(b, { srq }), make(b, { srq })];
    for (const [i, sender] of this.senders.entries()) {
      connect(sender, { qpNum: this.takers[i].qpNum, dgid: second.queryGid(1, 0) });
      connect(this.takers[i], { qpNum: sender.qpNum, dgid: first.queryGid(1, 0) });
    }
  }

  /** Sends one byte by each of the senders in turn. */
  send(values: readonly number[]): void {
    for (const [i, value] of values.entries()) {
      this.a.mr.bytes[i] = value;
      this.senders[i % 2].postSend({ opcode: WrOpcode.SEND, sgList: [this.a.mr.sge(i, 1)] });
    }
  }

  [Symbol.dispose](): void {
    this.a.context[Symbol.dispose]();
    this.b.context[Symbol.dispose]();
  }
}

for (const hosting of HOSTINGS) {
  describe(`a shared receive queue, hosted ${hosting}`, () => {
    test('serves several queue pairs, each completing under its own number', () => {
      using shared = new Shared(hosting);
      const { b, srq, takers } = shared;
      for (let i = 0; i < 6; i += 1) {
        const { addr, lkey } = b.mr.sge(i, 1);
        if (i % 2 === 0) srq.postRecv({ wrId: i, sgList: [b.mr.sge(i, 1)] });
        else srq.postRecvSge(i, lkey, addr, 1);
      }
      shared.send([1, 2, 3, 4, 5, 6]);
      const seen = drain(b.cq, 6);
      assert.deepEqual(new Set(seen.map(({ status }) => status)), new Set([WcStatus.SUCCESS]));
      assert.deepEqual(seen.map(({ wrId }) => Number(wrId)).sort(), [0, 1, 2, 3, 4, 5]);
      for (const { qpNum } of takers) assert.equal(seen.filter((wc) => wc.qpNum === qpNum).length, 3);
      assert.deepEqual([...b.mr.bytes.slice(0, 6)].sort(), [1, 2, 3, 4, 5, 6]);
    });

    test('keeps what is posted, in its order, when it is resized', () => {
      using shared = new Shared(hosting, 4);
      const { b, srq } = shared;
      const post = (from: number, to: number): void => {
        for (let i = from; i < to; i += 1) srq.postRecv({ wrId: i, sgList: [b.mr.sge(i, 1)] });
      };
      post(0, 3);
      shared.send([1, 2]);
      drain(b.cq, 2);
      post(3, 6);
      assert.equal(srq.maxWr, 4);
      assert.throws(() => srq.postRecv({}), { errno: 'ENOMEM', call: 'ibv_post_srq_recv' });
      srq.modify({ maxWr: 16 });
      assert.equal(srq.query().maxWr, 16);
      post(6, 10);
      assert.throws(() => srq.modify({ maxWr: 4 }), { errno: 'EINVAL', call: 'ibv_modify_srq' });
      assert.equal(srq.maxWr, 16);
      shared.send([1, 2, 3, 4, 5, 6, 7, 8]);
      const seen = drain(b.cq, 8);
      assert.deepEqual(seen.map(({ wrId }) => Number(wrId)).sort(), [2, 3, 4, 5, 6, 7, 8, 9]);
    });

    test('tells once that it has run low, when it is asked to', () => {
      using shared = new Shared(hosting);
      const { b, srq } = shared;
      srq.postRecv(Array.from({ length: 4 }, (_, i) => ({ wrId: i, sgList: [b.mr.sge(i, 1)] })));
      srq.modify({ srqLimit: 3 });
      assert.equal(srq.query().srqLimit, 3);
      shared.send([1, 2, 3]);
      drain(b.cq, 3);
      const event = b.context.getAsyncEvent(PATIENCE_MS);
      assert.deepEqual(event, { eventType: EventType.SRQ_LIMIT_REACHED, srq });
      b.context.ackAsyncEvent(event);
      assert.equal(srq.query().srqLimit, 0);
      assert.throws(() => b.context.getAsyncEvent(0), { errno: 'ETIMEDOUT' });
    });

    test('outlives a queue pair that fails, which says that it takes no more', () => {
      using shared = new Shared(hosting);
      const { b, srq, takers } = shared;
      srq.postRecv({ wrId: 1, sgList: [b.mr.sge(0, 1)] });
      takers[0].modify({ qpState: QpState.ERR });
      assert.deepEqual(b.context.getAsyncEvent(PATIENCE_MS), {
        eventType: EventType.QP_LAST_WQE_REACHED,
        qp: takers[0],
      });
      assert.deepEqual(b.cq.poll(), []);
      shared.a.mr.bytes[0] = 9;
      shared.senders[1].postSend({ opcode: WrOpcode.SEND, sgList: [shared.a.mr.sge(0, 1)] });
      assert.equal(drainOne(b.cq).qpNum, takers[1].qpNum);
    });

    test('cannot be ended while queue pairs take from it, nor used afterwards', () => {
      using shared = new Shared(hosting);
      const { b, srq, takers } = shared;
      assert.throws(() => srq.destroy(), { errno: 'EBUSY', call: 'ibv_destroy_srq', message: /QP 0x/ });
      assert.throws(() => takers[0].postRecv({}), { errno: 'EINVAL' });
      for (const taker of takers) taker.destroy();
      assert.throws(() => b.pd.dealloc(), { errno: 'EBUSY', message: /SRQ 0x/ });
      srq.destroy();
      for (const call of [
        () => srq.destroy(),
        () => srq.query(),
        () => srq.modify({ srqLimit: 0 }),
        () => srq.postRecv({}),
        () => srq.postRecvSge(0, 0, 0, 0),
      ])
        assert.throws(call, { errno: 'EINVAL' });
    });
  });
}

test('a shared receive queue that cannot be is refused, and so are changes of one', () => {
  using shared = new Shared('simulated');
  const { a, b } = shared;
  const { maxSrqWr, maxSrqSge } = b.context.queryDevice();
  const xrcd = b.context.openXrcd();
  const foreign = a.context.openXrcd();
  const { XRC, BASIC, TM } = SrqType;
  const { cq, pd } = b;
  for (const init of [
    { maxWr: 0 },
    { maxWr: maxSrqWr + 1 },
    { maxWr: 1.5 },
    { maxWr: 1, maxSge: maxSrqSge + 1 },
    { maxWr: 4, srqLimit: 5 },
    { maxWr: 4, srqLimit: -1 },
    { maxWr: 4, srqType: XRC, cq },
    { maxWr: 4, srqType: XRC, xrcd },
    { maxWr: 4, srqType: XRC, xrcd: foreign, cq },
    { maxWr: 4, srqType: XRC, xrcd, cq: a.cq },
    { maxWr: 4, srqType: BASIC, xrcd, cq },
  ])
    assert.throws(() => pd.createSrq(init), { errno: 'EINVAL', call: 'ibv_create_srq' });
  assert.throws(() => pd.createSrq({ maxWr: 4, srqType: TM }), { errno: 'EOPNOTSUPP' });
  const srq = pd.createSrq({ maxWr: 4, srqContext: 7 });
  for (const change of [{ maxWr: 0 }, { maxWr: maxSrqWr + 1 }, { srqLimit: 5 }, { maxWr: 8, srqLimit: 9 }])
    assert.throws(() => srq.modify(change), { errno: 'EINVAL', call: 'ibv_modify_srq' });
  assert.deepEqual([srq.query(), srq.srqNum, srq.srqContext], [{ maxWr: 4, maxSge: 1, srqLimit: 0 }, 0, 7]);
  const piece = b.mr.sge(0, 1);
  assert.throws(
    () => srq.postRecv([{}, { sgList: [piece, piece] }]),
    (error) => error instanceof PostError && error.index === 1 && error.errno === 'EINVAL',
  );
  const ofXrc = pd.createSrq({ maxWr: 4, srqType: XRC, xrcd, cq });
  assert.ok(ofXrc.srqNum > 0);
  assert.throws(() => xrcd.close(), { errno: 'EBUSY', message: /SRQ 0x/ });
});
