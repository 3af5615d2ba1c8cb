import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QpState } from '../../ibta/index.js';
import { assertCompleted, Pair, pattern } from './pair.js';
import { ahTo, postTo, udQp } from './ud.js';

test('a UD QP keeps to its rate', () => {
  const pair = new Pair();
  const sender = udQp(pair.a);
  const to = { ah: ahTo(pair.a, pair.b.gid), qpn: 0x123456 };
  pair.a.nic.control.modifyRateLimit(sender.qpn, 8_000, 1, 0);
  const wrIds = [0, 1, 2, 3].map(() => postTo(sender, to, { inline: pattern(48) }));
  pair.drive();
  assertCompleted(sender.sent(), wrIds);
  // 12 BTH, 8 DETH, 48 data, 4 ICRC, and 28 of IP and UDP; the timer counts in steps of 4 µs.
  const gaps = pair.wire.slice(1).map(({ atUs }, i) => atUs - pair.wire[i].atUs);
  assert.ok(
    gaps.every((gap) => Math.abs(gap - 100) <= 4),
    `gaps of ${gaps.join(', ')} µs`,
  );
});

test('a rate that is lifted by RESET holds nothing back any more', () => {
  const pair = new Pair();
  const sender = udQp(pair.a);
  pair.a.nic.control.modifyRateLimit(sender.qpn, 8, 1, 0);
  sender.modify({ qpState: QpState.RESET });
  sender.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: 1 });
  sender.modify({ qpState: QpState.RTR });
  sender.modify({ qpState: QpState.RTS, sqPsn: 0 });
  const to = { ah: ahTo(pair.a, pair.b.gid), qpn: 0x123456 };
  for (let i = 0; i < 5; i += 1) postTo(sender, to, { inline: pattern(48) });
  pair.run(1);
  assert.equal(pair.wire.length, 5);
});
