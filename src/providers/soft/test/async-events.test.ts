import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EventType, QpState, SendFlags, WcStatus, WrOpcode } from '../../../entry/index.js';
import { drain, HOSTINGS, Pair } from './support/pair.js';
import { NET } from '../../../../test/support/loopback.js';

for (const hosting of HOSTINGS) {
  describe(`asynchronous events, hosted ${hosting}`, () => {
    test('tell that the send queue has come to rest', () => {
      using pair = new Pair(hosting, NET);
      const { qp, context } = pair.a;
      qp.modify({ qpState: QpState.SQD, enSqdAsyncNotify: 1 });
      assert.deepEqual(context.getAsyncEvent(60_000), { eventType: EventType.SQ_DRAINED, qp });
    });

    test('can be awaited', async () => {
      using pair = new Pair(hosting, NET);
      const { qp, context } = pair.a;
      setImmediate(() => qp.modify({ qpState: QpState.SQD, enSqdAsyncNotify: 1 }));
      for await (const event of context.asyncEvents()) {
        assert.deepEqual(event, { eventType: EventType.SQ_DRAINED, qp });
        break;
      }
    });

    test('tell of a queue that was overrun, which then says EIO', () => {
      using pair = new Pair(hosting, NET, { cqe: 4, cap: { maxSendWr: 16, maxRecvWr: 16 } });
      const { a, b } = pair;
      b.qp.postRecv(Array.from({ length: 8 }, () => ({})));
      a.qp.postSend(Array.from({ length: 8 }, () => ({ opcode: WrOpcode.SEND }) as const));
      assert.deepEqual(b.context.getAsyncEvent(60_000), { eventType: EventType.CQ_ERR, cq: b.cq });
      assert.equal(b.context.getAsyncEvent(60_000).eventType, EventType.QP_FATAL);
      assert.equal(b.qp.state, QpState.ERR);
      drain(b.cq, 4);
      assert.throws(() => b.cq.poll(), { errno: 'EIO' });
    });

    test('pass over objects that are gone, and end with the time that is allowed', () => {
      using pair = new Pair(hosting, NET);
      const { qp, context } = pair.a;
      qp.modify({ qpState: QpState.SQD, enSqdAsyncNotify: 1 });
      qp.destroy();
      assert.throws(() => context.getAsyncEvent(1), { errno: 'ETIMEDOUT', call: 'ibv_get_async_event' });
    });
  });
}

test('a request that a peer refuses explains itself', () => {
  using pair = new Pair('simulated', NET);
  const { a, b } = pair;
  const rdma = { remoteAddr: b.mr.addr + 65_536n, rkey: b.mr.rkey };
  a.qp.postSend([
    { opcode: WrOpcode.RDMA_WRITE, sendFlags: SendFlags.SIGNALED, sgList: [a.mr.sge(0, 8)], rdma },
    { opcode: WrOpcode.SEND },
  ]);
  const [refused, flushed] = drain(a.cq, 2);
  assert.equal(refused.status, WcStatus.REM_ACCESS_ERR);
  const sentence = a.context.explain(refused);
  assert.ok(sentence.includes(`0x${b.mr.rkey.toString(16)}`), sentence);
  assert.ok(sentence.includes(b.context.address), sentence);
  assert.equal(flushed.status, WcStatus.WR_FLUSH_ERR);
  assert.match(a.context.explain(flushed), /error state|ERR/);
});
