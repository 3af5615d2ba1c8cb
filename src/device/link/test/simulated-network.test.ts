import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PERFECT_CONDITIONS, SimulatedNetwork } from '../index.js';
import { packetOf, put, runAndTake, sendOne, take } from './simulated-support.js';

const A = '10.0.0.1';
const B = '10.0.0.2';

describe('a simulated network', () => {
  it('delivers a packet after the delay, with the addresses of both ends', () => {
    const network = new SimulatedNetwork({ seed: 1 });
    const a = network.attach(A);
    const b = network.attach(B);
    sendOne(a, B, [1, 2, 3, 4]);
    assert.equal(network.nextEventUs(), PERFECT_CONDITIONS.delayUs);
    network.advanceTo(PERFECT_CONDITIONS.delayUs - 0.5);
    assert.deepEqual(take(network, b), []);
    network.advanceTo(PERFECT_CONDITIONS.delayUs);
    assert.deepEqual(take(network, b), [{ atUs: 5, bytes: [1, 2, 3, 4], from: A, to: B, ipId: 0 }]);
    assert.equal(network.nextEventUs(), Infinity);
  });

  it('carries IPv6', () => {
    const network = new SimulatedNetwork({ seed: 1 });
    const a = network.attach('fd00::1');
    const b = network.attach('fd00:0::2');
    assert.equal(a.ipv6, true);
    sendOne(a, 'fd00::2', [9, 9, 9, 9]);
    assert.deepEqual(
      runAndTake(network, b).map(({ from, to }) => [from, to]),
      [['fd00::1', 'fd00::2']],
    );
  });

  it('copies packets, so that the arena can be used again at once', () => {
    const network = new SimulatedNetwork({ seed: 1 });
    const a = network.attach(A);
    const b = network.attach(B);
    sendOne(a, B, packetOf(8, 1));
    sendOne(a, B, packetOf(8, 2));
    a.sink.bytes.fill(0xff);
    assert.deepEqual(
      runAndTake(network, b).map(({ bytes }) => bytes),
      [packetOf(8, 1), packetOf(8, 2)],
    );
  });

  it('sends nothing before the flush', () => {
    const network = new SimulatedNetwork({ seed: 1 });
    const a = network.attach(A);
    network.attach(B);
    put(a, B, [1, 2, 3, 4]);
    assert.equal(network.nextEventUs(), Infinity);
    a.flush();
    assert.notEqual(network.nextEventUs(), Infinity);
  });

  it('says that the arena is full until it is flushed', () => {
    const network = new SimulatedNetwork({ seed: 1 });
    const a = network.attach(A, { maxPacketBytes: 64, burstPackets: 2 });
    assert.deepEqual([put(a, B, packetOf(64)), put(a, B, packetOf(64)), put(a, B, packetOf(4))], [true, true, false]);
    a.flush();
    assert.equal(put(a, B, packetOf(64)), true);
  });

  it('replaces a reservation that was not committed', () => {
    const network = new SimulatedNetwork({ seed: 1 });
    const a = network.attach(A);
    const b = network.attach(B);
    put(a, B, packetOf(4, 1));
    const path = {
      sgid: a.gid,
      dgid: b.gid,
      ipv6: false,
      sourcePort: 1,
      trafficClass: 0,
      hopLimit: 0,
      flowLabel: 0,
      crc: 0,
    };
    assert.equal(a.sink.reserve(path, 400), a.sink.reserve(path, 4));
    a.flush();
    assert.equal(runAndTake(network, b).length, 1);
  });

  it('hands out no more packets than asked for', () => {
    const network = new SimulatedNetwork({ seed: 1 });
    const a = network.attach(A);
    const b = network.attach(B);
    for (let i = 0; i < 5; i += 1) sendOne(a, B, packetOf(4, i));
    network.advanceTo(100);
    assert.deepEqual(
      [take(network, b, 2), take(network, b, 2), take(network, b, 2)].map((packets) =>
        packets.map(({ bytes }) => bytes[0]),
      ),
      [[0, 1], [2, 3], [4]],
    );
  });

  it('drops and counts what is sent to an address that nobody has', () => {
    const network = new SimulatedNetwork({ seed: 1 });
    sendOne(network.attach(A), B, [1, 2, 3, 4]);
    network.advanceTo(100);
    assert.equal(network.statistics()['unroutable'], 1);
  });

  it('refuses a second host at an address, and a text that is none', () => {
    const network = new SimulatedNetwork({ seed: 1 });
    network.attach(A);
    assert.throws(() => network.attach(A), /attached already/);
    assert.throws(() => network.attach('not an address'), RangeError);
  });

  it('gives an address free when its link is closed', () => {
    const network = new SimulatedNetwork({ seed: 1 });
    network.attach(A).close();
    assert.doesNotThrow(() => network.attach(A));
  });

  it('is left alone by a link that is closed: nothing is sent, nothing received, nobody else detached', () => {
    const network = new SimulatedNetwork({ seed: 1 });
    const a = network.attach(A);
    const b = network.attach(B);
    sendOne(b, A, packetOf(4));
    network.advanceTo(10);
    a.close();
    assert.deepEqual(take(network, a), []);
    const other = network.attach(A);
    a.close();
    sendOne(a, B, packetOf(4));
    sendOne(b, A, packetOf(4));
    network.advanceTo(20);
    assert.deepEqual(take(network, b), []);
    assert.equal(take(network, other).length, 1);
  });

  it('drops what a receiver has no room for, as a full socket buffer does', () => {
    const network = new SimulatedNetwork({ seed: 1 });
    const a = network.attach(A);
    const b = network.attach(B, { inboxLimitBytes: 300 });
    for (let i = 0; i < 4; i += 1) sendOne(a, B, packetOf(100, i));
    network.advanceTo(100);
    assert.equal(take(network, b).length, 2);
    assert.deepEqual([network.counts.delivered, network.counts.inboxDropped], [2, 2]);
    assert.equal(b.statistics()['inbox_dropped'], 2);
  });

  it('counts the packets and bytes of each link', () => {
    const network = new SimulatedNetwork({ seed: 1 });
    const a = network.attach(A);
    const b = network.attach(B);
    sendOne(a, B, packetOf(100));
    runAndTake(network, b);
    assert.deepEqual([a.statistics()['sent_packets'], a.statistics()['sent_bytes']], [1, 100]);
    assert.deepEqual([b.statistics()['received_packets'], b.statistics()['received_bytes']], [1, 100]);
  });

  it('hides the IPv4 identification and counts it up in a burst, when asked to', () => {
    const network = new SimulatedNetwork({ seed: 1, hideIpId: true });
    const a = network.attach(A);
    const b = network.attach(B);
    const ids: number[] = [];
    for (let i = 0; i < 3; i += 1) {
      put(a, B, packetOf(4));
      ids.push(a.sink.ipId);
    }
    a.flush();
    put(a, B, packetOf(4));
    ids.push(a.sink.ipId);
    a.flush();
    assert.deepEqual(ids, [0, 1, 2, 0]);
    assert.deepEqual(
      runAndTake(network, b).map(({ ipId }) => ipId),
      [-1, -1, -1, -1],
    );
  });

  it('runs actions at their time, between the packets of earlier and later times', () => {
    const network = new SimulatedNetwork({ seed: 1 });
    const a = network.attach(A);
    network.attach(B);
    const seen: [number, number][] = [];
    network.at(4, () => seen.push([network.nowUs, network.counts.delivered]));
    network.at(6, () => seen.push([network.nowUs, network.counts.delivered]));
    sendOne(a, B, packetOf(4));
    network.advanceTo(50);
    assert.deepEqual(seen, [
      [4, 0],
      [6, 1],
    ]);
    assert.equal(network.nowUs, 50);
  });

  it('delivers a hand-made packet past script and conditions', () => {
    const network = new SimulatedNetwork({ seed: 1, conditions: { loss: 1 } });
    network.onPacket = () => 'drop';
    const b = network.attach(B);
    network.inject('10.9.9.9', B, Uint8Array.of(7, 7, 7, 7));
    network.advanceTo(network.nowUs);
    assert.deepEqual(take(network, b), [{ atUs: 0, bytes: [7, 7, 7, 7], from: '10.9.9.9', to: B, ipId: 0 }]);
  });

  it('never lets time run backwards', () => {
    const network = new SimulatedNetwork({ seed: 1 });
    network.advanceTo(70);
    network.advanceTo(20);
    assert.equal(network.nowUs, 70);
  });
});
