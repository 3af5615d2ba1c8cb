import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, QpState, WcStatus } from '../../ibta/index.js';
import { SeededRandom } from '../../link/index.js';
import { Opcode } from '../../wire/index.js';
import { assertCompleted, assertStatuses, type Captured, type Crafted, Puppet } from './pair.js';
import type { ConnectOptions } from './qp.js';

/** protocol/reliable.md 2.6: 4.096 µs · 2^timeout; a timer may fire between once and four times that. */
const intervalUs = (timeout: number): number => 4.096 * 2 ** timeout;

/** A peer that never answers. */
function silence(options: ConnectOptions) {
  const puppet = new Puppet(options);
  const wrId = puppet.qp.send(puppet.host1.mr(10));
  return { puppet, wrId };
}

function gaps(packets: readonly Captured[]): number[] {
  return packets.slice(1).map(({ atUs }, i) => atUs - packets[i].atUs);
}

describe('the retry timer', () => {
  for (const timeout of [1, 2, 5, 8, 12, 14, 18, 22, 31]) {
    it(`of exponent ${String(timeout)} fires between one and four times ${intervalUs(timeout).toFixed(1)} us`, () => {
      const { puppet } = silence({ timeout, retryCnt: 3 });
      puppet.drive({ untilUs: 20 * intervalUs(timeout) });
      const packets = puppet.heard();
      assert.equal(packets.length, 4);
      for (const gap of gaps(packets)) {
        assert.ok(gap >= intervalUs(timeout), `${String(gap)} us`);
        assert.ok(gap <= 4 * intervalUs(timeout), `${String(gap)} us`);
      }
    });
  }

  for (const { asked, kept } of [
    { asked: 10, kept: 14 },
    { asked: 16, kept: 16 },
  ]) {
    it(`of exponent ${String(asked)} is one of ${String(kept)} where the NIC keeps to no shorter than 14`, () => {
      const puppet = new Puppet({ timeout: asked, retryCnt: 1, host: { limits: { minAckTimeout: 14 } } });
      puppet.qp.send(puppet.host1.mr(10));
      puppet.drive({ untilUs: 20 * intervalUs(kept) });
      const [gap] = gaps(puppet.heard());
      assert.ok(gap >= intervalUs(kept) && gap <= 4 * intervalUs(kept), `${String(gap)} us`);
    });
  }

  it('of exponent 0 waits for ever', () => {
    const { puppet, wrId } = silence({ timeout: 0, retryCnt: 0 });
    puppet.drive({ untilUs: 1e12 });
    assert.equal(puppet.heard().length, 1);
    puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1000, aeth: { syndrome: 0x1f, msn: 1 } });
    assertCompleted(puppet.qp.sent(), [wrId]);
  });

  for (const retryCnt of [0, 1, 3, 6, 7]) {
    it(`with retry_cnt ${String(retryCnt)} sends ${String(retryCnt + 1)} times and then gives up with RETRY_EXC_ERR`, () => {
      const { puppet, wrId } = silence({ timeout: 10, retryCnt });
      puppet.drive();
      assert.equal(puppet.heard().length, retryCnt + 1);
      assertStatuses(puppet.qp.sent(), [[wrId, WcStatus.RETRY_EXC_ERR]]);
      assert.equal(puppet.qp.state, QpState.ERR);
      assert.ok(puppet.nowUs >= (retryCnt + 1) * intervalUs(10));
      assert.ok(puppet.nowUs <= 4 * (retryCnt + 1) * intervalUs(10));
    });
  }

  describe('that ran out while its NIC was not run', () => {
    const TIMEOUT = 14;
    const T_US = intervalUs(TIMEOUT);

    /** A peer that has not answered yet to a NIC which then is not run until so long after the timer ran out. */
    function starved(lateUs: number, retryCnt = 0) {
      const { puppet, wrId } = silence({ timeout: TIMEOUT, retryCnt });
      puppet.turn();
      const runAgain = (afterUs: number): void => {
        puppet.network.advanceTo(puppet.nowUs + afterUs);
        puppet.turn();
      };
      const say = (fields: Omit<Crafted, 'destQp'>): void =>
        puppet.network.inject(puppet.peerAddress, puppet.host1.ip, puppet.crafted(fields));
      return { puppet, wrId, say, runAgain: () => runAgain(T_US + lateUs), later: runAgain };
    }

    it('ends nothing whose answer is still unread behind as much as one turn takes', () => {
      const { puppet, wrId, say, runAgain } = starved(30_000);
      for (let i = 0; i < 100; i += 1)
        say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1900, aeth: { syndrome: 0x1f, msn: 1 } });
      say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1000, aeth: { syndrome: 0x1f, msn: 1 } });
      runAgain();
      puppet.drive();
      assertCompleted(puppet.qp.sent(), [wrId]);
      assert.equal(puppet.heard().length, 1);
    });

    it('gives the peer as much time again as it was late, and no more than its interval', () => {
      for (const lateUs of [2000, 30_000, 10e6]) {
        const { puppet, wrId, runAgain } = starved(lateUs);
        runAgain();
        const begun = puppet.nowUs;
        puppet.drive();
        assertStatuses(puppet.qp.sent(), [[wrId, WcStatus.RETRY_EXC_ERR]]);
        const again = Math.min(lateUs, T_US);
        const tookUs = puppet.nowUs - begun;
        assert.ok(tookUs >= again && tookUs < again + 1000, `${tookUs} us after ${lateUs}`);
      }
    });

    it('gives it once for each time that something was sent', () => {
      const { puppet, runAgain, later } = starved(30_000, 1);
      const sent: number[] = [];
      runAgain();
      for (let i = 0; i < 4; i += 1) {
        sent.push(puppet.wire.length);
        later(2 * T_US);
      }
      assert.deepEqual(sent, [1, 2, 2, 2]);
      assert.equal(puppet.qp.state, QpState.ERR);
    });

    it('counts as ever when it is hardly late', () => {
      const { puppet, wrId, runAgain } = starved(500);
      runAgain();
      assertStatuses(puppet.qp.sent(), [[wrId, WcStatus.RETRY_EXC_ERR]]);
    });
  });

  it('runs from the first unacknowledged packet, not from the last one sent', () => {
    const puppet = new Puppet({ timeout: 10, retryCnt: 7 });
    const source = puppet.host1.mr(10);
    const begin = puppet.nowUs;
    for (let i = 0; i < 30; i += 1) {
      puppet.network.at(begin + i * 200, () => puppet.qp.send(source));
    }
    puppet.drive({ until: () => puppet.wire.filter(({ psn }) => psn === 0x1000).length > 1 });
    const [first, second] = puppet.wire.filter(({ psn }) => psn === 0x1000);
    assert.ok(second.atUs - first.atUs <= 4 * intervalUs(10), `resent after ${String(second.atUs - first.atUs)} us`);
  });

  it('starts anew with every ACK that brings progress', () => {
    const puppet = new Puppet({ timeout: 10, retryCnt: 0 });
    const source = puppet.host1.mr(10);
    const wrIds = Array.from({ length: 10 }, () => puppet.qp.send(source));
    puppet.turn();
    for (let i = 0; i < 10; i += 1) {
      puppet.run(0.8 * intervalUs(10));
      puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1000 + i, aeth: { syndrome: 0x1f, msn: i + 1 } });
    }
    assertCompleted(puppet.qp.sent(), wrIds);
    assert.equal(puppet.heard().length, 10);
  });

  it('is not held up by ACKs that bring none', () => {
    const { puppet, wrId } = silence({ timeout: 10, retryCnt: 0 });
    for (let i = 0; i < 20; i += 1) {
      puppet.run(0.4 * intervalUs(10));
      puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x0fff, aeth: { syndrome: 0x1f, msn: 0 } });
    }
    assertStatuses(puppet.qp.sent(), [[wrId, WcStatus.RETRY_EXC_ERR]]);
  });

  it('reloads all of the retries on progress', () => {
    const puppet = new Puppet({ timeout: 10, retryCnt: 3, pathMtu: Mtu.MTU_256 });
    const wrId = puppet.qp.send(puppet.host1.mr(256 * 4));
    for (let i = 0; i < 4; i += 1) {
      for (let retry = 0; retry < 3; retry += 1) {
        puppet.turn();
        puppet.heard();
        puppet.drive({ until: () => puppet.wire.length > 0 });
        assert.equal(puppet.heard()[0].psn, 0x1000 + i);
      }
      puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1000 + i, aeth: { syndrome: 0x1f, msn: 0 } });
    }
    assertCompleted(puppet.qp.sent(), [wrId]);
  });

  it('stands still while nothing is outstanding', () => {
    const { puppet, wrId } = silence({ timeout: 5, retryCnt: 0 });
    puppet.turn();
    puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1000, aeth: { syndrome: 0x1f, msn: 1 } });
    puppet.drive({ untilUs: 1e9 });
    assertCompleted(puppet.qp.sent(), [wrId]);
    assert.equal(puppet.qp.state, QpState.RTS);
    assert.equal(puppet.heard().length, 1);
  });

  it('resends from the oldest unacknowledged packet on', () => {
    const puppet = new Puppet({ timeout: 10, pathMtu: Mtu.MTU_256 });
    puppet.qp.send(puppet.host1.mr(1000));
    puppet.turn();
    puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1001, aeth: { syndrome: 0x1f, msn: 0 } });
    puppet.heard();
    puppet.drive({ until: () => puppet.wire.length > 0 });
    assert.deepEqual(
      puppet.heard().map(({ name, psn }) => [name, psn]),
      [
        ['RC_SEND_MIDDLE', 0x1002],
        ['RC_SEND_LAST', 0x1003],
      ],
    );
  });

  it('flushes everything behind the request that it gave up', () => {
    const puppet = new Puppet({ timeout: 5, retryCnt: 0 });
    const source = puppet.host1.mr(10);
    const wrIds = [puppet.qp.send(source), puppet.qp.send(source), puppet.qp.send(source)];
    const receive = puppet.qp.recv(source);
    puppet.drive();
    assertStatuses(puppet.qp.sent(), [
      [wrIds[0], WcStatus.RETRY_EXC_ERR],
      [wrIds[1], WcStatus.WR_FLUSH_ERR],
      [wrIds[2], WcStatus.WR_FLUSH_ERR],
    ]);
    assertStatuses(puppet.qp.received(), [[receive, WcStatus.WR_FLUSH_ERR]]);
  });

  it('gives up a READ and an atomic the same way', () => {
    for (const opcode of [4, 6] as const) {
      const puppet = new Puppet({ timeout: 5, retryCnt: 1 });
      const local = puppet.host1.mr(8);
      const wrId = puppet.qp.post({ opcode, sgList: [local.sge()], remoteAddr: 0x5000n, rkey: 1 });
      puppet.drive();
      assert.equal(puppet.heard().length, 2);
      assertStatuses(puppet.qp.sent(), [[wrId, WcStatus.RETRY_EXC_ERR]]);
    }
  });

  it('says in the completion how often and how long it tried', () => {
    const { puppet } = silence({ timeout: 10, retryCnt: 2 });
    puppet.drive();
    const [{ vendorErr, detail }] = puppet.qp.sent();
    const [psn, transmissions, elapsedUs, peerQpn] = detail;
    assert.equal(vendorErr, 1);
    assert.deepEqual([psn, transmissions, peerQpn], [0x1000, 3, puppet.peerQpn]);
    assert.ok(elapsedUs >= 3 * intervalUs(10) && elapsedUs <= 12 * intervalUs(10));
  });

  it('of many QPs fire each at its own time', () => {
    const puppet = new Puppet({ timeout: 3, retryCnt: 0 });
    const source = puppet.host1.mr(10);
    const peer = { gid: puppet.host1.gid, qpn: 0x333 };
    const queues = [4, 7, 9, 11, 13, 16].map((timeout) => {
      const qp = puppet.host1.qp();
      qp.toRts(peer, { timeout, retryCnt: 0 });
      qp.send(source);
      return { qp, timeout };
    });
    puppet.turn();
    const start = puppet.nowUs;
    for (const { qp, timeout } of queues) {
      puppet.drive({ until: () => qp.sendCq.queued > 0 });
      const elapsed = puppet.nowUs - start;
      assert.ok(
        elapsed >= intervalUs(timeout) && elapsed <= 4 * intervalUs(timeout),
        `${String(timeout)}: ${String(elapsed)}`,
      );
    }
  });

  it('of hundreds of QPs that start at any time never fires early, nor a turn of any wheel late', () => {
    const random = new SeededRandom(4711);
    const puppet = new Puppet();
    const source = puppet.host1.mr(10);
    const peer = { gid: puppet.host1.gid, qpn: 0x333 };
    const exponents = new Map<number, number>();
    for (let i = 0; i < 400; i += 1) {
      const timeout = random.between(1, 15);
      const qp = puppet.host1.qp();
      // The destination tells the packets of the QPs apart.
      qp.toRts({ ...peer, qpn: i + 1 }, { timeout, retryCnt: 2 });
      exponents.set(i + 1, timeout);
      // Whole ticks and places between them, so that timers of different lengths meet.
      const startUs = random.chance(0.5) ? 256 * random.below(2000) : random.fraction() * 500_000;
      puppet.network.at(startUs, () => qp.send(source));
    }
    puppet.drive();
    for (const [qpn, timeout] of exponents) {
      const packets = puppet.wire.filter(({ destQp }) => destQp === qpn);
      assert.equal(packets.length, 3);
      for (const gap of gaps(packets)) {
        assert.ok(gap >= intervalUs(timeout), `${String(gap)} us for exponent ${String(timeout)}`);
        assert.ok(gap <= 4 * intervalUs(timeout), `${String(gap)} us for exponent ${String(timeout)}`);
      }
    }
  });
});
