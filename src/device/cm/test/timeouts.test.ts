import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ackTimeout, requestIntervalUs, timeoutUs } from '../connections/timeouts.js';
import { CmEventType, QpState } from '../../ibta/index.js';
import { CmAttribute } from '../../wire/index.js';
import { rep, req } from './support/messages.js';
import { deviceAndRawPeer, PORT } from './support/two-devices.js';

describe('the time of an exponent', () => {
  for (const [exponent, ms] of [
    [0, 1],
    [8, 1],
    [9, 2],
    [16, 256],
    [20, 4096],
    [24, 65_536],
    [31, 8_388_608],
  ] as const)
    test(`${exponent} is ${ms} ms`, () => {
      assert.equal(timeoutUs(exponent), ms * 1000);
    });
});

test('the interval of requests is twice the packet lifetime, and the response timeout', () => {
  assert.equal(requestIntervalUs(16, 20), 2 * 256_000 + 4_096_000);
});

/** `t = lifetime + 1`, and one more where the other is within half of the greater (protocol/connections.md 4.2), at most 31. */
describe('the ACK timeout', () => {
  for (const [delay, lifetime, expected] of [
    // The delay does not matter.
    [0, 16, 17],
    [15, 16, 17],
    // It is within half.
    [16, 16, 18],
    [17, 16, 18],
    // It is the greater, and the lifetime within half.
    [18, 16, 19],
    // The lifetime does not matter.
    [19, 16, 19],
    [25, 16, 25],
    [0, 0, 2],
    [3, 0, 3],
    // There is no more than 31.
    [0, 31, 31],
    [31, 31, 31],
    [31, 30, 31],
  ] as const)
    test(`of delay ${delay} and lifetime ${lifetime} is ${expected}`, () => {
      assert.equal(ackTimeout(delay, lifetime), expected);
    });
});

describe('a queue pair times out', () => {
  const active = (ackTimeoutOption: number | undefined, targetAckDelay: number) => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    const { qp } = b.connect(rawPeer, PORT, { ackTimeout: ackTimeoutOption });
    network.settle();
    const { localCommId, primaryPath } = rawPeer.heard(CmAttribute.REQ);
    rawPeer.say(b, rep({ remoteCommId: localCommId }, { targetAckDelay }));
    return { said: primaryPath.localAckTimeout, has: b.moveTo(qp, QpState.RTS).timeout };
  };

  test('by default after T(17) on the active side, as it says in the REQ', () => {
    assert.deepEqual(active(undefined, 15), { said: 17, has: 17 });
  });

  test('later when the peer takes long to acknowledge', () => {
    assert.equal(active(undefined, 20).has, 20);
  });

  test('as the option ACK_TIMEOUT says, whatever the peer says', () => {
    assert.deepEqual([active(14, 15).has, active(14, 31).has], [14, 14]);
  });

  test('never, when the option ACK_TIMEOUT is 0; the packet lifetime is the default then', () => {
    assert.deepEqual(active(0, 15), { said: 17, has: 0 });
  });

  test('on the passive side as the option ACK_TIMEOUT says, whatever the REQ says', () => {
    const { b, rawPeer } = deviceAndRawPeer();
    rawPeer.say(b, req({ from: rawPeer, to: b }));
    const qp = b.accept(b.takeOnly(CmEventType.CONNECT_REQUEST).id, { ackTimeout: 19 });
    assert.equal(b.moveTo(qp, QpState.RTS).timeout, 19);
  });

  for (const [said, has] of [
    [17, 17],
    [14, 14],
    [31, 31],
    // Which would be never.
    [0, 1],
  ] as const)
    test(`on the passive side after T(${has}) when the REQ says ${said}`, () => {
      const { b, rawPeer } = deviceAndRawPeer();
      const { primaryPath } = req({ from: rawPeer, to: b });
      rawPeer.say(b, req({ from: rawPeer, to: b }, { primaryPath: { ...primaryPath, localAckTimeout: said } }));
      const qp = b.accept(b.takeOnly(CmEventType.CONNECT_REQUEST).id);
      assert.equal(b.moveTo(qp, QpState.RTS).timeout, has);
    });
});
