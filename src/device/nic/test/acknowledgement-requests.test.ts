import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, QpState } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import { assertCompleted, dropping, Pair, Puppet } from './pair.js';
import { type ConnectOptions, UNSIGNALLED } from './qp.js';
import { localInvalidate } from './windows.js';

/** When a requester asks for acknowledgements (IBTA 9.7.3.3 leaves it to the requester): bit AckReq of the BTH. */

/** Long enough for everything but the retry timer, whose time is 67 ms. */
const SOON_US = 2000;

/** Sends `count` requests nobody is told about, and tells for each packet whether it asks. */
function unsignalled(puppet: Puppet, count: number): boolean[] {
  const source = puppet.host1.mr(16);
  for (let i = 0; i < count; i += 1) puppet.qp.send(source, { flags: UNSIGNALLED });
  puppet.turn();
  return puppet.heard().map(({ ackRequest }) => ackRequest);
}

/** A requester that has just been heard: what it sends now is not the first for long. */
function talking(options: ConnectOptions = {}): Puppet {
  const puppet = new Puppet({ timeout: 14, ...options });
  unsignalled(puppet, 1);
  puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1000, aeth: { syndrome: 0x1f, msn: 1 } });
  return puppet;
}

describe('an acknowledgement is asked for', () => {
  it('by the last packet of a signalled request', () => {
    const puppet = talking();
    puppet.qp.send(puppet.host1.mr(2500));
    puppet.turn();
    assert.deepEqual(
      puppet.heard().map(({ ackRequest }) => ackRequest),
      [false, false, true],
    );
  });

  it('by every request of a queue pair made with sq_sig_all', () => {
    const puppet = new Puppet({ timeout: 14, qp: { sqSigAll: true } });
    assert.deepEqual(unsignalled(puppet, 3), [true, true, true]);
  });

  it('by the first of unsignalled requests after a silence, and not by those that follow at once', () => {
    assert.deepEqual(unsignalled(new Puppet({ timeout: 14 }), 4), [true, false, false, false]);
  });

  it('by one packet in seventeen while nobody waits for any', () => {
    const asked = unsignalled(talking({ pathMtu: Mtu.MTU_256 }), 40);
    assert.deepEqual(
      asked.flatMap((asks, i) => (asks ? [i] : [])),
      [16, 33],
    );
  });

  it('before half of a short send queue is in use', () => {
    const puppet = new Puppet({ timeout: 14, qp: { cap: { maxSendWr: 4 } } });
    assert.deepEqual(unsignalled(puppet, 4), [true, false, false, true]);
  });

  it('by the last packet once more, when nothing follows', () => {
    const puppet = talking();
    assert.deepEqual(unsignalled(puppet, 3), [false, false, false]);
    puppet.run(SOON_US);
    assert.deepEqual(
      puppet.heard().map(({ psn, ackRequest }) => ({ psn, ackRequest })),
      [{ psn: 0x1003, ackRequest: true }],
    );
  });

  it('by the next packet, when something follows', () => {
    const puppet = talking();
    for (const asks of [false, false, true]) {
      assert.deepEqual(unsignalled(puppet, 1), [asks]);
      puppet.run(150);
    }
  });

  it('by the last packet once more, also when something followed before the next was to ask, and then nothing', () => {
    const puppet = talking();
    unsignalled(puppet, 1);
    puppet.run(150);
    unsignalled(puppet, 1);
    puppet.run(SOON_US);
    assert.deepEqual(
      puppet.heard().map(({ psn, ackRequest }) => ({ psn, ackRequest })),
      [{ psn: 0x1002, ackRequest: true }],
    );
  });

  it('at once, when the queue pair drains', () => {
    const puppet = talking();
    unsignalled(puppet, 2);
    puppet.qp.modify({ qpState: QpState.SQD });
    puppet.turn();
    assert.deepEqual(
      puppet.heard().map(({ psn, ackRequest }) => ({ psn, ackRequest })),
      [{ psn: 0x1002, ackRequest: true }],
    );
  });

  it('at once, when a local request waits for all before it', () => {
    const puppet = talking();
    unsignalled(puppet, 2);
    localInvalidate(puppet.qp, puppet.host1.mr(8).rkey);
    puppet.turn();
    assert.deepEqual(
      puppet.heard().map(({ psn, ackRequest }) => ({ psn, ackRequest })),
      [{ psn: 0x1002, ackRequest: true }],
    );
  });
});

describe('what nobody asked about', () => {
  it('is delivered though its last packet is lost, long before the retry timer', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { timeout: 14 } });
    pair.script = dropping(({ psn }) => psn === 0x1002, 1);
    const [source, target] = [pair.a.mr(16), pair.b.mr(16)];
    const wrIds = [1, 2, 3].map(() => b.recv(target));
    for (const flags of [UNSIGNALLED, UNSIGNALLED, UNSIGNALLED]) a.send(source, { flags });
    pair.run(SOON_US);
    assertCompleted(b.received(), wrIds);
  });

  it('leaves the send queue soon', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { timeout: 14 } });
    const [source, target] = [pair.a.mr(16), pair.b.mr(16)];
    for (let i = 0; i < 3; i += 1) b.recv(target);
    for (const flags of [UNSIGNALLED, UNSIGNALLED, UNSIGNALLED]) a.send(source, { flags });
    pair.run(SOON_US);
    assert.equal(a.sq.inUse, 0);
  });

  it('takes no more packets than one acknowledgement and one repeat', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { timeout: 14 } });
    const [source, target] = [pair.a.mr(16), pair.b.mr(16)];
    for (let i = 0; i < 3; i += 1) b.recv(target);
    for (const flags of [UNSIGNALLED, UNSIGNALLED, UNSIGNALLED]) a.send(source, { flags });
    pair.run(100_000);
    assert.deepEqual([pair.fromA().length, pair.fromB().length], [4, 2]);
  });

  it('is sent again no more often than the retry timer says, though parts of it ask', () => {
    const puppet = new Puppet({ timeout: 12, retryCnt: 2, pathMtu: Mtu.MTU_256 });
    puppet.qp.send(puppet.host1.mr(40 * 256));
    puppet.drive({ until: () => puppet.qp.state === QpState.ERR });
    const intervalUs = 4.096 * 2 ** 12;
    assert.ok(puppet.nowUs >= 3 * intervalUs, `ended after ${puppet.nowUs} us`);
  });

  it('costs no retry of a peer that answers only then', () => {
    const puppet = new Puppet({ timeout: 14, retryCnt: 0 });
    unsignalled(puppet, 2);
    puppet.run(SOON_US);
    assert.equal(puppet.qp.state, QpState.RTS);
  });
});
