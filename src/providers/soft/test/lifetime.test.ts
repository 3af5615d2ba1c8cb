import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { alloc, QpType, VerbsError, WrOpcode } from '../../../entry/index.js';
import { HOSTINGS, makeSide, openContexts, Pair } from './support/pair.js';
import { NET } from '../../../../test/support/loopback.js';

for (const hosting of HOSTINGS) {
  describe(`lifetimes, hosted ${hosting}`, () => {
    test('objects in use cannot be destroyed, and say who uses them', () => {
      const [context, other] = openContexts(hosting, NET);
      const { pd, mr, channel, cq, qp } = makeSide(context);
      assert.throws(() => pd.dealloc(), /EBUSY|in use by MR .* and QP/);
      assert.throws(() => cq.destroy(), { errno: 'EBUSY' });
      assert.throws(() => channel.destroy(), { errno: 'EBUSY' });
      qp.destroy();
      assert.throws(() => channel.destroy(), { errno: 'EBUSY' });
      cq.destroy();
      channel.destroy();
      assert.throws(() => pd.dealloc(), { errno: 'EBUSY', call: 'ibv_dealloc_pd' });
      mr.dereg();
      pd.dealloc();
      context.close();
      other.close();
    });

    test('what was ended cannot be used or ended again', () => {
      using pair = new Pair(hosting, NET);
      const { qp, cq, channel, mr, pd, context } = pair.a;
      qp.destroy();
      cq.destroy();
      channel.destroy();
      mr.dereg();
      pd.dealloc();
      const calls: readonly (() => unknown)[] = [
        () => qp.destroy(),
        () => qp.postSend({ opcode: WrOpcode.SEND }),
        () => qp.postRecv({}),
        () => qp.wrStart(),
        () => qp.query(),
        () => qp.modify({ qpState: 6 }),
        () => cq.destroy(),
        () => cq.poll(),
        () => cq.startPoll(),
        () => cq.reqNotify(),
        () => channel.destroy(),
        () => channel.getCqEvent(0),
        () => channel.tryGetCqEvent(),
        () => mr.dereg(),
        () => mr.sge(),
        () => pd.dealloc(),
        () => pd.regMr(alloc(8)),
        () => context.createCq({ cqe: 1, channel }),
      ];
      for (const call of calls) assert.throws(call, (error) => error instanceof VerbsError && error.errno === 'EINVAL');
    });

    test('closing the device ends all that was made from it', () => {
      const pair = new Pair(hosting, NET);
      const { qp, cq, channel, mr, pd, context } = pair.a;
      pair.a.context.close();
      for (const call of [
        () => qp.postSend({ opcode: WrOpcode.SEND }),
        () => cq.poll(),
        () => channel.tryGetCqEvent(),
        () => mr.sge(),
        () => pd.regMr(alloc(8)),
        () => context.queryDevice(),
        () => context.allocPd(),
        () => context.close(),
      ])
        assert.throws(call, { errno: 'EINVAL' });
      // `using` after that does nothing.
      qp[Symbol.dispose]();
      pair[Symbol.dispose]();
    });

    test('`using` ends objects in the right order', () => {
      const [context, other] = openContexts(hosting, NET);
      {
        using pd = context.allocPd();
        using mr = pd.regMr(alloc(64));
        using channel = context.createCompChannel();
        using cq = context.createCq({ cqe: 2, channel });
        using qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq });
        assert.ok(mr.lkey !== 0 && qp.qpNum >= 16);
      }
      const pd = context.allocPd();
      pd.dealloc();
      context.close();
      other.close();
    });

    test('a device can be opened again at once where one was closed', () => {
      for (let round = 0; round < 3; round += 1) {
        using pair = new Pair(hosting, NET);
        assert.equal(pair.a.context.address, `${NET}.1`);
      }
    });
  });
}

test('objects of one context are refused by another', () => {
  using pair = new Pair('simulated', NET);
  const { a, b } = pair;
  assert.throws(() => a.context.createCq({ cqe: 1, channel: b.channel }), { errno: 'EINVAL' });
  assert.throws(() => a.pd.createQp({ qpType: QpType.RC, sendCq: a.cq, recvCq: b.cq }), {
    errno: 'EINVAL',
    call: 'ibv_create_qp',
  });
});
