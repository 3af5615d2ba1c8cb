import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SendFlags, WrOpcode } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { SidePair } from './sides.js';
import { assertErrno, remoteOf, useDevices } from './support.js';

conformance('completion channels', (provider) => {
  const devices = useDevices(provider);

  test('belong to their context, and end once', () => {
    const [context] = devices;
    const channel = context.createCompChannel();
    assert.equal(channel.context, context);
    channel.destroy();
    assertErrno('EINVAL', () => channel.destroy());
    assertErrno('EINVAL', () => channel.tryGetCqEvent());
    assertErrno('EINVAL', () => channel.getCqEvent(0));
  });

  test('cannot end while a completion queue uses them', () => {
    const [context] = devices;
    const channel = context.createCompChannel();
    const cq = context.createCq({ cqe: 10, channel });
    assertErrno('EBUSY', () => channel.destroy());
    cq.destroy();
    channel.destroy();
  });

  test('that have ended, or are another context’s, are refused for completion queues', () => {
    const [context, other] = devices;
    const ended = context.createCompChannel();
    ended.destroy();
    assertErrno('EINVAL', () => context.createCq({ cqe: 10, channel: ended }));
    using strange = other.createCompChannel();
    assertErrno('EINVAL', () => context.createCq({ cqe: 10, channel: strange }));
  });

  test('are needed to ask for events', () => {
    using cq = devices[0].createCq({ cqe: 10 });
    assertErrno('EINVAL', () => cq.reqNotify());
    assertErrno('EINVAL', () => cq.reqNotify(true));
  });

  test('hear nothing of queues that have ended, which cannot be asked', () => {
    const [context] = devices;
    using channel = context.createCompChannel();
    const cq = context.createCq({ cqe: 10, channel });
    cq.destroy();
    assertErrno('EINVAL', () => cq.reqNotify());
  });

  test('wait as long as they are told for events that do not come', () => {
    const [context] = devices;
    using channel = context.createCompChannel();
    using cq = context.createCq({ cqe: 10, channel });
    cq.reqNotify();
    assertErrno('ETIMEDOUT', () => channel.getCqEvent(0));
    assertErrno('ETIMEDOUT', () => channel.getCqEvent(1));
  });

  test('keep a queue alive until its events are acknowledged, and count them', () => {
    const [context] = devices;
    using channel = context.createCompChannel();
    const cq = context.createCq({ cqe: 10, channel });
    {
      using pair = new SidePair(devices, { sendCq: cq }, {});
      const { local, remote } = pair;
      cq.reqNotify();
      local.qp.postSend({
        opcode: WrOpcode.RDMA_WRITE,
        sendFlags: SendFlags.SIGNALED,
        sgList: [local.mr.sge(0, 8)],
        rdma: remoteOf(remote.mr),
      });
      assert.equal(channel.getCqEvent(), cq);
      // The queue pair uses it as well.
      assertErrno('EBUSY', () => cq.destroy());
    }
    assertErrno('EBUSY', () => cq.destroy());
    assertErrno('EINVAL', () => cq.ackEvents(2));
    cq.ackEvents();
    assertErrno('EINVAL', () => cq.ackEvents());
    cq.destroy();
  });
});
