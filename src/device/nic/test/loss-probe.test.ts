import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, QpState, WcStatus } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import { Crowd, port, RATE, sum } from './crowd.js';
import type { TestMr } from './host.js';
import { assertCompleted, assertStatuses, dropping, Pair, pattern, Puppet } from './pair.js';
import { type TestQp, UNSIGNALLED } from './qp.js';
import type { Completion } from './rings.js';

describe('a sender whose last packet was lost', () => {
  it('asks long before its retry timer runs out, and loses no retry', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { retryCnt: 0 } });
    const source = pair.a.mr(10_000);
    const target = pair.b.mr(10_000);
    a.write(source, target);
    pair.drive({ until: () => a.sent().length > 0 });
    let lost = false;
    pair.script = ({ opcode }) => {
      if (opcode !== Opcode.RC_WRITE_LAST || lost) return 'pass';
      lost = true;
      return 'drop';
    };
    const wrId = a.write(source, target);
    const begun = pair.nowUs;
    let sent: Completion[] = [];
    pair.drive({ until: () => (sent = a.sent()).length > 0 });
    assertCompleted(sent, [wrId]);
    assert.ok(pair.nowUs - begun < 12_000, `${pair.nowUs - begun} us`);
    assert.equal(pair.a.nic.counters.lossProbes, 1);
  });
});

describe('a requester that cannot send again what it would ask by', () => {
  it('waits for the requests before it until their retries run out', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { timeout: 14, retryCnt: 1 } });
    const [first, second] = [pair.a.mr(64), pair.a.mr(64)];
    const target = pair.b.mr(64);
    a.write(first, target);
    pair.drive({ until: () => a.sent().length > 0 });
    pair.script = () => 'drop';
    const ids = [a.write(first, target), a.write(second, target, { flags: UNSIGNALLED })];
    pair.drive({ untilUs: pair.nowUs + 20 });
    pair.a.nic.control.deregMr(second.handle);
    pair.drive({ untilUs: pair.nowUs + 1e6 });
    assertStatuses(a.sent(), [
      [ids[0], WcStatus.RETRY_EXC_ERR],
      [ids[1], WcStatus.WR_FLUSH_ERR],
    ]);
  });
});

describe('a requester that could not send again what the peer had all the while', () => {
  const acknowledge = (puppet: Puppet, psn: number): void =>
    puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn, aeth: { syndrome: 0x1f, msn: psn - 0x0fff } });

  /** Sends messages, of which nobody asks about the last; its memory is gone when that is to be sent again, to ask. */
  function asked() {
    const puppet = new Puppet({ timeout: 14 });
    const { qp, host1 } = puppet;
    const [kept, lost] = [host1.mr(64), host1.mr(64)];
    const ids = [qp.send(kept)];
    puppet.drive({ untilUs: puppet.nowUs + 20 });
    acknowledge(puppet, 0x1000);
    ids.push(qp.send(kept));
    const lostId = qp.send(lost, { flags: UNSIGNALLED });
    puppet.drive({ untilUs: puppet.nowUs + 20 });
    assert.equal(puppet.heard().length, 3);
    host1.nic.control.deregMr(lost.handle);
    puppet.drive({ untilUs: puppet.nowUs + 30_000 });
    assert.equal(puppet.heard().length, 0);
    return { puppet, kept, ids, lostId };
  }

  it('goes on when the peer says so', () => {
    const { puppet, kept, ids } = asked();
    const { qp } = puppet;
    ids.push(qp.send(kept));
    acknowledge(puppet, 0x1002);
    ids.push(qp.send(kept));
    puppet.turn();
    acknowledge(puppet, 0x1004);
    assertCompleted(qp.sent(), ids);
  });

  it('fails with that request when the peer has all but it', () => {
    const { puppet, kept, ids, lostId } = asked();
    const { qp } = puppet;
    acknowledge(puppet, 0x1001);
    const later = qp.send(kept);
    puppet.turn();
    assertStatuses(qp.sent(), [
      [ids[0], WcStatus.SUCCESS],
      [ids[1], WcStatus.SUCCESS],
      [lostId, WcStatus.LOC_PROT_ERR],
      [later, WcStatus.WR_FLUSH_ERR],
    ]);
  });
});

describe('a requester whose answer is late', () => {
  /** Four packets, which one request asks for. */
  const BYTES = 4000;

  /** A pair whose round trip is known, and what the second of two equal requests costs when packets are lost. */
  function lost(post: (a: TestQp, local: TestMr, remote: TestMr) => void, script: Pair['script']) {
    const pair = new Pair();
    const { a } = pair.connect({ both: { pathMtu: Mtu.MTU_1024, retryCnt: 1 } });
    const local = pair.a.mr(BYTES);
    const remote = pair.b.mrOf(pattern(BYTES));
    post(a, local, remote);
    pair.drive({ until: () => a.sent().length > 0 });
    local.bytes.fill(0);
    pair.script = script;
    post(a, local, remote);
    const begun = pair.nowUs;
    pair.drive({ until: () => pair.nowUs > begun && a.sent().length > 0 });
    const { lossProbes, completerRetryErr } = pair.a.nic.counters;
    return { pair, local, remote, tookUs: pair.nowUs - begun, lossProbes, completerRetryErr };
  }

  const read = (a: TestQp, local: TestMr, remote: TestMr): void => void a.read(local, remote);
  const add = (a: TestQp, local: TestMr, remote: TestMr): void => void a.fetchAdd(local, remote, 1n);

  for (const [what, post, dropped] of [
    ['the last response of a READ', read, Opcode.RC_READ_RESP_LAST],
    ['the request for a READ', read, Opcode.RC_READ_REQUEST],
    ['an atomic', add, Opcode.RC_FETCH_ADD],
    ['the answer to an atomic', add, Opcode.RC_ATOMIC_ACKNOWLEDGE],
  ] as const)
    it(`asks for it long before the retry timer runs out: ${what} was lost`, () => {
      const { tookUs, lossProbes } = lost(
        post,
        dropping(({ opcode }) => opcode === dropped, 1),
      );
      assert.ok(tookUs < 12_000, `${tookUs} us`);
      assert.equal(lossProbes, 1);
    });

  it('loses no retry to a single lost response, and asks for that alone', () => {
    const { pair, local, remote, completerRetryErr } = lost(
      read,
      dropping(({ opcode }) => opcode === Opcode.RC_READ_RESP_LAST, 1),
    );
    assert.equal(completerRetryErr, 0);
    assert.equal(pair.fromB(({ isReadResponse }) => isReadResponse).length, 2 * 4 + 1);
    assert.deepEqual(local.bytes, remote.bytes);
  });

  it('goes back as soon as the answer shows that more is missing, also for the second time', () => {
    const { local, remote, tookUs, lossProbes } = lost(
      read,
      // All but the first response; of the answers to the probe the first; and of those that the gap brings the last.
      dropping(({ isReadResponse }) => isReadResponse, 2, 3, 4, 5, 10),
    );
    assert.ok(tookUs < 35_000, `${tookUs} us`);
    assert.equal(lossProbes, 2);
    assert.deepEqual(local.bytes, remote.bytes);
  });

  it('has an atomic executed once', () => {
    const { remote } = lost(
      add,
      dropping(({ opcode }) => opcode === Opcode.RC_ATOMIC_ACKNOWLEDGE, 1),
    );
    assert.equal(remote.view.getBigUint64(0, true), new DataView(pattern(BYTES).buffer).getBigUint64(0, true) + 2n);
  });
});

describe('a requester whose peer has gone', () => {
  for (const operation of ['write', 'read'] as const)
    it(`asks in vain, and ends no later than its retries do: ${operation}`, () => {
      const pair = new Pair();
      const { a } = pair.connect({ both: { timeout: 14, retryCnt: 7 } });
      const [local, remote] = [pair.a.mr(100), pair.b.mr(100)];
      a[operation](local, remote);
      pair.drive({ until: () => a.sent().length > 0 });
      pair.script = () => 'drop';
      a[operation](local, remote);
      const begun = pair.nowUs;
      pair.drive({ until: () => a.sent().length > 0 });
      const retriesUs = 8 * 4.096 * 2 ** 14;
      const tookUs = pair.nowUs - begun;
      assert.ok(tookUs > 0.99 * retriesUs && tookUs < 1.01 * retriesUs, `${tookUs} us`);
    });
});

describe('a sender that drains, whose peer has gone', () => {
  it('has all of its retries', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { timeout: 14, retryCnt: 7 } });
    const [source, target] = [pair.a.mr(100), pair.b.mr(100)];
    pair.script = () => 'drop';
    for (let i = 0; i < 3; i += 1) a.write(source, target, { flags: UNSIGNALLED });
    pair.turn();
    const begun = pair.nowUs;
    a.modify({ qpState: QpState.SQD });
    pair.drive({ until: () => a.state === QpState.ERR });
    const tookUs = pair.nowUs - begun;
    assert.ok(tookUs > 0.99 * 8 * 4.096 * 2 ** 14, `${tookUs} us`);
  });
});

describe('many senders', () => {
  it('keep half of the bandwidth where 5 % of the packets are lost', () => {
    const crowd = new Crowd(16, { port }, { loss: 0.05 });
    crowd.flow(80_000);
    const part = sum(crowd.flow(60_000)) / (RATE * 60_000);
    assert.ok(part > 0.5, String(part));
  });
});
