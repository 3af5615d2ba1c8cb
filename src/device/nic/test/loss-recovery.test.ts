import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, WcStatus } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import { assertCompleted, type Captured, dropping, Pair, pattern } from './pair.js';

/** One packet is lost; everything must still end well, without a byte or an atomic too many. */

const SIZE = 1500;
const PACKETS = 6;

function lossy(which: (packet: Captured) => boolean, ...numbers: number[]) {
  const pair = new Pair();
  const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256, timeout: 8 } });
  pair.script = dropping(which, ...numbers);
  return { pair, a, b };
}

const fromHost = (address: string) => (packet: Captured) => packet.from === address;
const request = fromHost('10.0.0.1');
const response = fromHost('10.0.0.2');

describe('a lost packet', () => {
  for (let lost = 1; lost <= PACKETS; lost += 1) {
    it(`number ${String(lost)} of a SEND of ${String(PACKETS)} is sent again and the message delivered once`, () => {
      const { pair, a, b } = lossy(request, lost);
      const source = pair.a.mrOf(pattern(SIZE));
      const target = pair.b.mr(SIZE);
      const spare = pair.b.mr(SIZE);
      const received = b.recv(target);
      b.recv(spare);
      const sent = a.send(source);
      pair.drive();
      assertCompleted(a.sent(), [sent]);
      assertCompleted(b.received(), [received]);
      assert.deepEqual(target.bytes, source.bytes);
      assert.ok(spare.bytes.every((byte) => byte === 0));
    });

    it(`number ${String(lost)} of a WRITE of ${String(PACKETS)} is sent again`, () => {
      const { pair, a } = lossy(request, lost);
      const source = pair.a.mrOf(pattern(SIZE));
      const target = pair.b.mr(SIZE);
      const wrId = a.write(source, target);
      pair.drive();
      assertCompleted(a.sent(), [wrId]);
      assert.deepEqual(target.bytes, source.bytes);
    });

    it(`number ${String(lost)} of ${String(PACKETS)} READ responses is asked for again`, () => {
      const { pair, a } = lossy(response, lost);
      const remote = pair.b.mrOf(pattern(SIZE));
      const local = pair.a.mr(SIZE);
      const wrId = a.read(local, remote);
      pair.drive();
      assertCompleted(a.sent(), [wrId]);
      assert.deepEqual(local.bytes, remote.bytes);
    });
  }

  it('that is a READ request is sent again', () => {
    const { pair, a } = lossy(request, 1);
    const remote = pair.b.mrOf(pattern(SIZE));
    const local = pair.a.mr(SIZE);
    const wrId = a.read(local, remote);
    pair.drive();
    assertCompleted(a.sent(), [wrId]);
    assert.deepEqual(local.bytes, remote.bytes);
  });

  it('that is an ACK has the request repeated, and its message is not delivered twice', () => {
    const { pair, a, b } = lossy((packet) => packet.opcode === Opcode.RC_ACKNOWLEDGE, 1, 2);
    const source = pair.a.mrOf(pattern(100));
    const target = pair.b.mr(100);
    const received = b.recv(target);
    b.recv(pair.b.mr(100));
    const sent = a.send(source);
    pair.drive();
    assertCompleted(a.sent(), [sent]);
    assertCompleted(b.received(), [received]);
    assert.ok(pair.fromA().length >= 3);
  });

  it('that is an ACK costs nothing when a later ACK implies it', () => {
    const { pair, a } = lossy((packet) => packet.opcode === Opcode.RC_ACKNOWLEDGE, 1);
    const source = pair.a.mr(100);
    const target = pair.b.mr(100);
    const first = a.write(source, target);
    pair.run(20);
    const second = a.write(source, target);
    pair.drive();
    assertCompleted(a.sent(), [first, second]);
    assert.equal(pair.fromA().length, 2);
  });

  it('that is the answer to an atomic has the saved answer repeated: the addition is done once', () => {
    const { pair, a } = lossy((packet) => packet.opcode === Opcode.RC_ATOMIC_ACKNOWLEDGE, 1, 2);
    const counter = pair.b.mr(8);
    counter.view.setBigUint64(0, 100n, true);
    const result = pair.a.mr(8);
    const wrId = a.fetchAdd(result, counter, 7n);
    pair.drive();
    assertCompleted(a.sent(), [wrId]);
    assert.equal(counter.view.getBigUint64(0, true), 107n);
    assert.equal(result.view.getBigUint64(0, true), 100n);
  });

  it('among many atomics has none of them done twice or left out', () => {
    for (let lost = 1; lost <= 12; lost += 1) {
      const { pair, a } = lossy(() => true, lost);
      const counter = pair.b.mr(8);
      const results = pair.a.mr(80);
      const wrIds = Array.from({ length: 10 }, (_, i) =>
        a.fetchAdd(results, counter, 1n, { sgList: [results.sge(8 * i, 8)] }),
      );
      pair.drive();
      assertCompleted(a.sent(), wrIds);
      for (let i = 0; i < 10; i += 1) assert.equal(results.view.getBigUint64(8 * i, true), BigInt(i));
      assert.equal(counter.view.getBigUint64(0, true), 10n);
    }
  });

  it('among READs and WRITEs of the same place leaves each READ with the bytes of its time', () => {
    for (let lost = 1; lost <= 14; lost += 1) {
      const { pair, a } = lossy(() => true, lost);
      const remote = pair.b.mrOf(pattern(600, 1));
      const [second, third] = [pair.a.mrOf(pattern(600, 2)), pair.a.mrOf(pattern(600, 3))];
      const [before, between, after] = [pair.a.mr(600), pair.a.mr(600), pair.a.mr(600)];
      const wrIds = [
        a.read(before, remote),
        // Without a fence a repeated READ may see what a later WRITE did (protocol/reliable.md 2.7).
        a.write(second, remote, { flags: 2 | 1 }),
        a.read(between, remote),
        a.write(third, remote, { flags: 2 | 1 }),
        a.read(after, remote),
      ];
      pair.drive();
      assertCompleted(a.sent(), wrIds);
      assert.deepEqual(before.bytes, pattern(600, 1));
      assert.deepEqual(between.bytes, pattern(600, 2));
      assert.deepEqual(after.bytes, pattern(600, 3));
    }
  });

  it('leaves no receive behind or taken twice when each of ten SENDs loses a packet', () => {
    const { pair, a, b } = lossy(request, 1, 3, 6, 8, 13, 17, 22, 23, 31);
    const target = pair.b.mr(10 * 700);
    const received = Array.from({ length: 10 }, (_, i) => b.postRecv({ sgList: [target.sge(700 * i, 700)] }));
    const sources = Array.from({ length: 10 }, (_, i) => pair.a.mrOf(pattern(700, i)));
    const sent = sources.map((source) => a.send(source));
    pair.drive();
    assertCompleted(a.sent(), sent);
    assertCompleted(b.received(), received);
    sources.forEach((source, i) => assert.deepEqual(target.bytes.subarray(700 * i, 700 * (i + 1)), source.bytes));
  });
});

describe('a READ that was answered in part', () => {
  it('is asked for from the first missing response on: later address, shorter length', () => {
    const { pair, a } = lossy((packet) => packet.isReadResponse, 3);
    const remote = pair.b.mrOf(pattern(SIZE));
    const local = pair.a.mr(SIZE);
    a.read(local, remote);
    pair.drive();
    const requests = pair.fromA((packet) => packet.opcode === Opcode.RC_READ_REQUEST);
    assert.equal(requests.length, 2);
    assert.equal(requests[1].psn, 0x1002);
    assert.deepEqual(requests[1].reth, { va: remote.addr + 512n, rkey: remote.rkey, length: SIZE - 512 });
    assert.deepEqual(
      pair
        .fromB()
        .slice(PACKETS)
        .map(({ name, psn }) => [name, psn]),
      [
        ['RC_READ_RESP_FIRST', 0x1002],
        ['RC_READ_RESP_MIDDLE', 0x1003],
        ['RC_READ_RESP_MIDDLE', 0x1004],
        ['RC_READ_RESP_LAST', 0x1005],
      ],
    );
  });

  it('is asked for at the right address when that lies beyond a multiple of 4 GiB', () => {
    const { pair, a } = lossy((packet) => packet.isReadResponse, 3);
    const remote = pair.b.mrOf(pattern(SIZE), { iova: 0x2_ffff_ff00n });
    const local = pair.a.mr(SIZE);
    const wrId = a.read(local, remote);
    pair.drive();
    assertCompleted(a.sent(), [wrId]);
    assert.equal(pair.fromA()[1].reth?.va, 0x3_0000_0100n);
    assert.deepEqual(local.bytes, remote.bytes);
  });

  it('and lacks the last response is asked for that alone', () => {
    const { pair, a } = lossy((packet) => packet.isReadResponse, PACKETS);
    const remote = pair.b.mrOf(pattern(SIZE));
    a.read(pair.a.mr(SIZE), remote);
    pair.drive();
    const requests = pair.fromA();
    assert.deepEqual(requests[1].reth, { va: remote.addr + 1280n, rkey: remote.rkey, length: SIZE - 1280 });
    assert.deepEqual(
      pair
        .fromB()
        .slice(PACKETS)
        .map(({ name, psn }) => [name, psn]),
      [['RC_READ_RESP_ONLY', 0x1005]],
    );
  });

  it('is read anew from memory as it is then', () => {
    const { pair, a } = lossy((packet) => packet.isReadResponse, 1);
    const remote = pair.b.mrOf(pattern(100, 1));
    const local = pair.a.mr(100);
    a.read(local, remote);
    pair.run(50);
    remote.bytes.set(pattern(100, 2));
    pair.drive();
    assert.deepEqual(local.bytes, pattern(100, 2));
  });
});

describe('a packet that is lost again and again', () => {
  /** PSNs start at 0x1000: the second packet of the message. */
  const second = (packet: Captured): boolean => request(packet) && packet.psn === 0x1001;

  function lossyTimes(times: number) {
    const pair = new Pair();
    const { a } = pair.connect({ both: { pathMtu: Mtu.MTU_256, timeout: 14, retryCnt: 2 } });
    let lost = 0;
    pair.script = (packet) => (second(packet) && lost++ < times ? 'drop' : 'pass');
    return { pair, a };
  }

  it('is sent at most nine times in each retry, however fast the peer says that it is missing', () => {
    const { pair, a } = lossyTimes(Infinity);
    a.write(pair.a.mrOf(pattern(SIZE)), pair.b.mr(SIZE));
    pair.drive();
    assert.equal(a.sent()[0].status, WcStatus.RETRY_EXC_ERR);
    const sent = pair.fromA(second).length;
    assert.ok(sent <= 27, `sent ${String(sent)} times`);
  });

  it('arrives before any timer runs out when its eighth repeat comes through', () => {
    const { pair, a } = lossyTimes(8);
    const wrId = a.write(pair.a.mrOf(pattern(SIZE)), pair.b.mr(SIZE));
    pair.run(2000);
    assertCompleted(a.sent(), [wrId]);
  });
});
