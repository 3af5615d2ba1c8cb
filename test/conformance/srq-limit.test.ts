import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventType } from '../../src/entry/index.js';
import { Multiplex, send } from './multiplex.js';
import { conformance } from './provider.js';
import { settle } from './sides.js';
import { assertErrno, assertSuccess, nextEvent, pendingEvents, pollUntil, useDevices } from './support.js';

conformance('limits of a shared receive queue', (provider) => {
  const devices = useDevices(provider);

  for (const [requests, limit] of [
    [100, 50],
    [10, 7],
  ] as const) {
    const allowed = requests - limit;

    test(`of ${limit} with ${requests} requests are reached by the message after ${allowed}, once`, () => {
      using world = new Multiplex(devices);
      const [sender] = world.senders;
      const { srq, recvCq } = world;
      const { context } = recvCq;
      world.post(requests, 8);
      srq.modify({ srqLimit: limit });
      assert.equal(srq.query().srqLimit, limit);
      const sendMany = (count: number): void => {
        for (let i = 0; i < count; i += 1) send(sender, 8);
        for (const wc of pollUntil(sender.sendCq, count)) assertSuccess(sender, wc);
        for (const wc of pollUntil(recvCq, count)) assertSuccess(recvCq, wc);
        settle(context);
      };
      sendMany(allowed);
      assert.deepEqual(pendingEvents(context), []);
      sendMany(1);
      const event = nextEvent(context);
      assert.equal(event.eventType, EventType.SRQ_LIMIT_REACHED);
      assert.ok('srq' in event && event.srq === srq);
      assert.equal(srq.query().srqLimit, 0);
      sendMany(1);
      assert.deepEqual(pendingEvents(context), []);
    });
  }

  test('above the size are refused', () => {
    using world = new Multiplex(devices);
    const { srq } = world;
    assertErrno('EINVAL', () => srq.modify({ srqLimit: srq.maxWr + 1 }));
    assertErrno('EINVAL', () => world.pd.createSrq({ maxWr: 10, srqLimit: 11 }));
    assert.equal(srq.query().srqLimit, 0);
  });

  test('that are there from the beginning are told', () => {
    using pd = devices[0].allocPd();
    using srq = pd.createSrq({ maxWr: 10, srqLimit: 7 });
    assert.equal(srq.query().srqLimit, 7);
  });
});
