import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SendFlags, WcExFlags, WrOpcode } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { SidePair } from './sides.js';
import { assertSuccess, pollOne, useDevices, waitUntil } from './support.js';

const TICKS_OF_NS_KHZ = 1_000_000;
const NS_PER_MS = 1_000_000n;
/** Clocks that tell the time of day are set now and then, and are read here to the millisecond. */
const SECOND_NS = 1_000_000_000n;

const wallClockNs = (): bigint => BigInt(Date.now()) * NS_PER_MS;

function sendOne({ local, remote }: SidePair): void {
  remote.qp.postRecv({ sgList: [remote.mr.sge(0, 64)] });
  local.qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [local.mr.sge(0, 64)] });
}

conformance('times of completions', (provider) => {
  const virtual = provider.isVirtual && 'virtual time has no times of day';
  const devices = useDevices(provider);

  test('are nanoseconds of a clock that goes on', () => {
    const [context] = devices;
    const { hcaCoreClock, completionTimestampMask } = context.queryDeviceEx();
    assert.equal(hcaCoreClock, TICKS_OF_NS_KHZ);
    assert.equal(completionTimestampMask, 2n ** 64n - 1n);
    const { rawClock } = context.queryRtValues();
    assert.ok(context.queryRtValues().rawClock >= rawClock);
  });

  test('are those of the device’s clock between posting and polling, at both ends', () => {
    const init = { cqe: 16, wcFlags: WcExFlags.WITH_COMPLETION_TIMESTAMP };
    using pair = new SidePair(devices, { sendCq: init, recvCq: init });
    const { local, remote } = pair;
    const before = [local, remote].map(({ context }) => context.queryRtValues().rawClock);
    // A device may look at its clock once a turn, and be in the midst of one: that is over when this is done.
    sendOne(pair);
    for (const cq of [local.sendCq, remote.recvCq]) pollOne(cq);
    sendOne(pair);
    const completions = [pollOne(local.sendCq), pollOne(remote.recvCq)];
    const after = [local, remote].map(({ context }) => context.queryRtValues().rawClock);
    completions.forEach((wc, i) => {
      assertSuccess(local, wc);
      const { completionTimestamp } = wc;
      assert.ok(completionTimestamp !== undefined);
      assert.ok(before[i] <= completionTimestamp && completionTimestamp <= after[i]);
    });
  });

  test('are times of day where that is asked for, at both ends', { skip: virtual }, () => {
    const init = { cqe: 16, wcFlags: WcExFlags.WITH_COMPLETION_TIMESTAMP_WALLCLOCK };
    using pair = new SidePair(devices, { sendCq: init, recvCq: init });
    const { local, remote } = pair;
    const before = wallClockNs();
    sendOne(pair);
    for (const cq of [local.sendCq, remote.recvCq]) {
      waitUntil(cq.context, 'startPoll finds a completion', () => cq.startPoll());
      const { completionWallclockNs } = cq;
      cq.endPoll();
      assert.ok(before - SECOND_NS <= completionWallclockNs && completionWallclockNs <= wallClockNs() + SECOND_NS);
    }
  });

  test('are not there where nobody asked', () => {
    using pair = new SidePair(devices);
    const { sendCq, recvCq } = { sendCq: pair.local.sendCq, recvCq: pair.remote.recvCq };
    sendOne(pair);
    assert.equal(pollOne(recvCq).completionTimestamp, undefined);
    waitUntil(sendCq.context, 'startPoll finds a completion', () => sendCq.startPoll());
    const { completionTimestamp, completionWallclockNs } = sendCq;
    sendCq.endPoll();
    assert.deepEqual([completionTimestamp, completionWallclockNs], [0n, 0n]);
  });
});
