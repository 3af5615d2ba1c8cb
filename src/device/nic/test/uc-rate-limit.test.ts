import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventType, QpState, QpType } from '../../ibta/index.js';
import { Pacer } from '../unreliable/pacer.js';
import { assertCompleted, assertRefused, Pair, pattern } from './pair.js';
import { UNSIGNALLED } from './qp.js';
import { connectUc, UcPair } from './uc.js';

/** What leaves between two moments when packets of `packetBytes` go as soon as the pacer lets them. */
function leaving(pacer: Pacer, packetBytes: number, fromUs: number, untilUs: number): number {
  let bytes = 0;
  for (let nowUs = fromUs; nowUs < untilUs;) {
    const waitUs = pacer.waitUs(nowUs);
    if (waitUs > 0) {
      nowUs += Math.ceil(waitUs);
    } else {
      pacer.spend(packetBytes);
      bytes += packetBytes;
    }
  }
  return bytes;
}

test('a pacer without a rate never lets wait', () => {
  const pacer = new Pacer();
  pacer.spend(1e9);
  assert.equal(pacer.waitUs(0), 0);
});

for (const [rateKbps, packetBytes] of [
  [8_000, 100],
  [1_000_000, 1500],
  [10_000_000, 4200],
] as const) {
  test(`a pacer of ${rateKbps} kbit/s lets that much through, over the long run`, () => {
    const pacer = new Pacer();
    pacer.limit(0, rateKbps, packetBytes, packetBytes);
    const expected = (rateKbps / 8000) * 100_000;
    const bytes = leaving(pacer, packetBytes, 0, 100_000);
    assert.ok(Math.abs(bytes - expected) <= 3 * packetBytes, `${bytes} of ${expected} bytes`);
  });
}

test('after a rest as much as the burst may leave at once, and no more', () => {
  const pacer = new Pacer();
  pacer.limit(0, 8_000, 10_000, 0);
  assert.equal(pacer.waitUs(1e6), 0);
  let bytes = 0;
  while (pacer.waitUs(1e6) === 0) {
    pacer.spend(1000);
    bytes += 1000;
  }
  assert.equal(bytes, 11_000);
});

test('a packet longer than the burst leaves as well, and what follows waits for it', () => {
  const pacer = new Pacer();
  pacer.limit(0, 8_000, 100, 0);
  assert.equal(pacer.waitUs(0), 0);
  pacer.spend(4100);
  assert.equal(pacer.waitUs(0), 4000);
  assert.equal(pacer.waitUs(3999), 1);
  assert.equal(pacer.waitUs(4000), 0);
});

test('a burst holds a typical packet at least', () => {
  const pacer = new Pacer();
  pacer.limit(0, 8_000, 100, 1500);
  pacer.spend(1500);
  assert.equal(pacer.waitUs(0), 0);
  pacer.limit(0, 16_000);
  pacer.spend(1500);
  assert.equal(pacer.waitUs(0), 0);
});

test('another rate keeps the bursts that were asked for', () => {
  const pacer = new Pacer();
  pacer.limit(0, 8_000, 100, 0);
  pacer.limit(0, 16_000);
  pacer.spend(2100);
  assert.equal(pacer.waitUs(0), 1000);
});

test('a UC QP keeps to its rate', () => {
  const pair = new UcPair();
  // 8 Mbit/s are one byte a µs.
  pair.a.nic.control.modifyRateLimit(pair.sender.qpn, 8_000, 300, 300);
  const wrId = pair.sender.write(pair.a.mrOf(pattern(25_600)), pair.b.mr(25_600));
  pair.drive();
  assertCompleted(pair.sender.sent(), [wrId]);
  const packets = pair.fromA();
  const elapsedUs = packets[packets.length - 1].atUs - packets[0].atUs;
  const bytes = packets.slice(0, -1).reduce((sum, packet) => sum + packet.bytes.length + 28, 0);
  assert.ok(Math.abs(elapsedUs - bytes) < 400, `${bytes} bytes in ${elapsedUs} µs`);
});

test('a rate that is lifted holds nothing back any more', () => {
  const pair = new UcPair();
  pair.a.nic.control.modifyRateLimit(pair.sender.qpn, 8, 100, 0);
  const mr = pair.a.mr(200);
  for (let i = 0; i < 20; i += 1) pair.sender.send(mr, { flags: UNSIGNALLED });
  pair.run(1000);
  assert.equal(pair.fromA().length, 1);
  pair.a.nic.control.modifyRateLimit(pair.sender.qpn, 0, 0, 0);
  pair.run(1);
  assert.equal(pair.fromA().length, 20);
});

test('a message that its rate holds back in SQD is sent to its end', () => {
  const pair = new UcPair();
  pair.a.nic.control.modifyRateLimit(pair.sender.qpn, 8_000, 300, 0);
  const wrId = pair.sender.write(pair.a.mr(2000), pair.b.mr(2000));
  pair.run(10);
  pair.sender.modify({ qpState: QpState.SQD, enSqdAsyncNotify: 1 });
  assert.deepEqual(pair.a.eventsOf(pair.sender), []);
  pair.drive();
  assertCompleted(pair.sender.sent(), [wrId]);
  assert.deepEqual(pair.a.eventsOf(pair.sender), [EventType.SQ_DRAINED]);
});

test('requests that wait for their rate are flushed in ERR', () => {
  const pair = new UcPair();
  pair.a.nic.control.modifyRateLimit(pair.sender.qpn, 8, 100, 0);
  const mr = pair.a.mr(200);
  for (let i = 0; i < 4; i += 1) pair.sender.send(mr);
  pair.run(10);
  pair.sender.modify({ qpState: QpState.ERR });
  assert.equal(pair.sender.sent().length, 4);
  pair.drive();
  assert.equal(pair.fromA().length, 1);
});

test('RESET lifts the limit', () => {
  const pair = new UcPair();
  pair.a.nic.control.modifyRateLimit(pair.sender.qpn, 8, 100, 0);
  pair.sender.modify({ qpState: QpState.RESET });
  connectUc(pair.sender, pair.receiver.peer);
  const mr = pair.a.mr(200);
  for (let i = 0; i < 20; i += 1) pair.sender.send(mr);
  pair.run(1);
  assert.equal(pair.fromA().length, 20);
});

test('the rate of an RC QP cannot be limited', () => {
  const pair = new Pair();
  const { a } = pair.connect();
  assertRefused('EOPNOTSUPP', () => pair.a.nic.control.modifyRateLimit(a.qpn, 1000, 0, 0));
});

test('the rate of a QP that is not in RTS cannot be limited', () => {
  const host = new Pair().a;
  const qp = host.qp({ type: QpType.UC });
  assertRefused('EINVAL', () => host.nic.control.modifyRateLimit(qp.qpn, 1000, 0, 0));
});
