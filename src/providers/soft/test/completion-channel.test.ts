import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SendFlags, WrOpcode } from '../../../entry/index.js';
import { drain, drainOne, HOSTINGS, Pair, type Side } from './support/pair.js';
import { NET } from '../../../../test/support/loopback.js';

/** A message, whose receive completes at the other end. */
function send(from: Side, sendFlags = 0): void {
  from.qp.postSend({ opcode: WrOpcode.SEND, sendFlags });
}

for (const hosting of HOSTINGS) {
  describe(`completion channels, hosted ${hosting}`, () => {
    test('block until the armed queue has a completion', () => {
      using pair = new Pair(hosting, NET);
      const { a, b } = pair;
      b.qp.postRecv({ wrId: 3 });
      b.cq.reqNotify();
      send(a);
      const cq = b.channel.getCqEvent(60_000);
      assert.equal(cq, b.cq);
      assert.equal(drainOne(cq).wrId, 3n);
      cq.ackEvents();
    });

    test('block nobody for ever where no queue is armed', () => {
      using pair = new Pair(hosting, NET);
      const { a, b } = pair;
      b.qp.postRecv({});
      send(a, SendFlags.SIGNALED);
      drain(a.cq, 1);
      const refusal = { errno: 'EDEADLK', call: 'ibv_get_cq_event' };
      assert.throws(() => b.channel.getCqEvent(), { ...refusal, message: /CQ \d+ has 1 completion and is not armed/ });
      assert.throws(() => b.channel.getCqEvent(1), {
        errno: 'ETIMEDOUT',
        message: /no event within 1 ms; no event can come: CQ \d+ has 1 completion and is not armed/,
      });
      using empty = b.context.createCompChannel();
      assert.throws(() => empty.getCqEvent(), { ...refusal, message: /no CQ was made with completion channel \d+/ });
      b.cq.reqNotify();
      assert.throws(() => b.channel.getCqEvent(1), { errno: 'ETIMEDOUT', message: /^(?!.*no event can come)/ });
    });

    test('raise one event for one arming', () => {
      using pair = new Pair(hosting, NET);
      const { a, b } = pair;
      b.qp.postRecv([{}, {}]);
      b.cq.reqNotify();
      send(a);
      send(a);
      drain(b.cq, 2);
      assert.equal(b.channel.tryGetCqEvent(), b.cq);
      assert.equal(b.channel.tryGetCqEvent(), undefined);
      b.cq.ackEvents();
    });

    test('raise no event for a completion that was there before', () => {
      using pair = new Pair(hosting, NET);
      const { a, b } = pair;
      b.qp.postRecv({});
      send(a, SendFlags.SIGNALED);
      // The acknowledgement says that the receive is complete as well.
      drain(a.cq, 1);
      b.cq.reqNotify();
      assert.equal(b.channel.tryGetCqEvent(), undefined);
      assert.equal(b.cq.poll().length, 1);
    });

    test('wait for a solicited completion when that is asked for', () => {
      using pair = new Pair(hosting, NET);
      const { a, b } = pair;
      b.qp.postRecv([{}, {}]);
      b.cq.reqNotify(true);
      send(a);
      drain(b.cq, 1);
      assert.equal(b.channel.tryGetCqEvent(), undefined);
      send(a, SendFlags.SOLICITED);
      assert.equal(b.channel.getCqEvent(60_000), b.cq);
      b.cq.ackEvents();
    });

    test('keep "any" in force when "solicited" is asked for afterwards', () => {
      using pair = new Pair(hosting, NET);
      const { a, b } = pair;
      b.qp.postRecv({});
      b.cq.reqNotify();
      b.cq.reqNotify(true);
      send(a);
      assert.equal(b.channel.getCqEvent(60_000), b.cq);
      b.cq.ackEvents();
    });

    test('give up after the time that is allowed', () => {
      using pair = new Pair(hosting, NET);
      assert.throws(() => pair.a.channel.getCqEvent(1), { errno: 'ETIMEDOUT', call: 'ibv_get_cq_event' });
      assert.throws(() => pair.a.channel.getCqEvent(-1), { errno: 'EINVAL' });
    });

    test('give events to whoever awaits them, one after the other', async () => {
      using pair = new Pair(hosting, NET);
      const { a, b } = pair;
      b.qp.postRecv([{ wrId: 0 }, { wrId: 1 }, { wrId: 2 }]);
      const ids: bigint[] = [];
      b.cq.reqNotify();
      send(a);
      for await (const cq of b.channel) {
        cq.ackEvents();
        cq.reqNotify();
        for (const { wrId } of cq.poll()) ids.push(wrId);
        if (ids.length === 3) break;
        send(a);
      }
      assert.deepEqual(ids, [0n, 1n, 2n]);
    });

    test('let the event loop run while an event is awaited', async () => {
      using pair = new Pair(hosting, NET);
      const { a, b } = pair;
      b.qp.postRecv({});
      b.cq.reqNotify();
      const event = b.channel[Symbol.asyncIterator]().next();
      // Nothing is sent before the event loop has come round.
      setImmediate(() => send(a));
      const { value } = await event;
      assert.equal(value, b.cq);
      b.cq.ackEvents();
    });

    test('leave an event to others when a wait for it is given up', async () => {
      using pair = new Pair(hosting, NET);
      const { a, b } = pair;
      const iterator = b.channel[Symbol.asyncIterator]();
      const event = iterator.next();
      await iterator.return?.();
      assert.deepEqual(await event, { done: true, value: undefined });
      b.qp.postRecv({});
      b.cq.reqNotify();
      send(a);
      assert.equal(b.channel.getCqEvent(60_000), b.cq);
      b.cq.ackEvents();
    });

    test('end the iteration when they are destroyed', async () => {
      using pair = new Pair(hosting, NET);
      const channel = pair.a.context.createCompChannel();
      const event = channel[Symbol.asyncIterator]().next();
      channel.destroy();
      assert.deepEqual(await event, { done: true, value: undefined });
    });

    test('end the iteration when the device is closed', async () => {
      using pair = new Pair(hosting, NET);
      const event = pair.a.channel[Symbol.asyncIterator]().next();
      pair.a.context.close();
      assert.deepEqual(await event, { done: true, value: undefined });
    });

    test('keep a queue alive whose events were not acknowledged', () => {
      using pair = new Pair(hosting, NET);
      const { a, b } = pair;
      b.qp.postRecv({});
      b.cq.reqNotify();
      send(a);
      b.channel.getCqEvent(60_000);
      b.qp.destroy();
      assert.throws(() => b.cq.destroy(), { errno: 'EBUSY', call: 'ibv_destroy_cq' });
      assert.throws(() => b.cq.ackEvents(2), { errno: 'EINVAL' });
      b.cq.ackEvents();
      b.cq.destroy();
    });

    test('pass over events of queues that are gone', () => {
      using pair = new Pair(hosting, NET);
      const { a, b } = pair;
      const other = b.context.createCq({ cqe: 4, channel: b.channel });
      b.qp.postRecv({});
      b.cq.reqNotify();
      send(a);
      drain(b.cq, 1);
      b.qp.destroy();
      b.cq.destroy();
      assert.equal(b.channel.tryGetCqEvent(), undefined);
      other.destroy();
      b.channel.destroy();
    });
  });
}

test('a queue without a channel cannot be armed', () => {
  using pair = new Pair('simulated', NET);
  using cq = pair.a.context.createCq({ cqe: 1 });
  assert.throws(() => cq.reqNotify(), { errno: 'EINVAL', call: 'ibv_req_notify_cq' });
});

test('every event is found again when more came than the channel holds', () => {
  using pair = new Pair('simulated', NET, { cqe: 8192 });
  const { a, b } = pair;
  const ROUNDS = 4200;
  for (let round = 0; round < ROUNDS; round += 1) {
    b.qp.postRecv({});
    b.cq.reqNotify();
    send(a);
    drain(b.cq, 1);
  }
  let events = 0;
  while (b.channel.tryGetCqEvent() !== undefined) events += 1;
  // The ring holds 4096; those that were too many come back as one.
  assert.equal(events, 4097);
});
