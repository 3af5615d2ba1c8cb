import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QpState, WrOpcode } from '../../ibta/index.js';
import { CqArm } from '../rings/layout.js';
import { Pair } from './pair.js';
import { SOLICITED } from './qp.js';

/** protocol/services.md 3.8 and the last line of 2.10. */

function receiver() {
  const pair = new Pair();
  const channel = pair.b.channel();
  const recvCq = pair.b.cq(64, channel);
  const { a, b } = pair.connect({ qpB: { recvCq } });
  const buffer = pair.b.mr(64);
  for (let i = 0; i < 16; i += 1) b.postRecv({ sgList: [buffer.sge()] });
  const send = (flags?: number): void => {
    a.post({ opcode: WrOpcode.SEND, ...(flags === undefined ? {} : { flags }) });
    pair.drive();
  };
  return { pair, channel, recvCq, a, b, send };
}

describe('an armed CQ', () => {
  it('raises one event with the next completion, and no more until it is armed again', () => {
    const { pair, channel, recvCq, send } = receiver();
    recvCq.arm(false);
    send();
    send();
    assert.deepEqual(channel.take(), [recvCq.cqn]);
    assert.deepEqual(pair.b.channelNotices, [channel.handle]);
    assert.equal(recvCq.armed, CqArm.NONE);
    send();
    assert.deepEqual(channel.take(), []);
    recvCq.arm(false);
    send();
    assert.deepEqual(channel.take(), [recvCq.cqn]);
  });

  it('raises nothing for a completion that was queued before', () => {
    const { channel, recvCq, send } = receiver();
    send();
    recvCq.arm(false);
    assert.deepEqual(channel.take(), []);
    send();
    assert.deepEqual(channel.take(), [recvCq.cqn]);
  });

  it('has its completion in the queue when the event comes', () => {
    const { channel, recvCq, send } = receiver();
    recvCq.arm(false);
    send();
    assert.equal(channel.take().length, 1);
    assert.equal(recvCq.poll().length, 1);
  });

  it('for solicited completions alone ignores the others', () => {
    const { channel, recvCq, send } = receiver();
    recvCq.arm(true);
    send();
    send();
    assert.deepEqual(channel.take(), []);
    send(SOLICITED);
    assert.deepEqual(channel.take(), [recvCq.cqn]);
  });

  it('for any completion is satisfied by a solicited one', () => {
    const { channel, recvCq, send } = receiver();
    recvCq.arm(false);
    send(SOLICITED);
    assert.deepEqual(channel.take(), [recvCq.cqn]);
  });

  it('armed both ways raises for any', () => {
    const { channel, recvCq, send } = receiver();
    recvCq.arm(false);
    recvCq.arm(true);
    send();
    assert.deepEqual(channel.take(), [recvCq.cqn]);
  });

  it('for solicited completions raises for an error as well', () => {
    const { pair, channel, recvCq, b } = receiver();
    recvCq.arm(true);
    b.modify({ qpState: QpState.ERR });
    pair.drive();
    assert.deepEqual(channel.take(), [recvCq.cqn]);
  });

  it('counts a WRITE with immediate data as solicited when it asks so', () => {
    const { pair, channel, recvCq, a } = receiver();
    recvCq.arm(true);
    const target = pair.b.mr(8);
    a.write(pair.a.mr(8), target, { opcode: WrOpcode.RDMA_WRITE_WITH_IMM, imm: 1 });
    pair.drive();
    assert.deepEqual(channel.take(), []);
    a.write(pair.a.mr(8), target, { opcode: WrOpcode.RDMA_WRITE_WITH_IMM, imm: 1, flags: SOLICITED });
    pair.drive();
    assert.deepEqual(channel.take(), [recvCq.cqn]);
  });

  it('of the send side raises for its completions', () => {
    const pair = new Pair();
    const channel = pair.a.channel();
    const sendCq = pair.a.cq(64, channel);
    const { a } = pair.connect({ qpA: { sendCq } });
    sendCq.arm(false);
    a.write(pair.a.mr(8), pair.b.mr(8));
    pair.drive();
    assert.deepEqual(channel.take(), [sendCq.cqn]);
  });

  it('without a channel raises nothing', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    a.sendCq.arm(false);
    a.write(pair.a.mr(8), pair.b.mr(8));
    pair.drive();
    assert.deepEqual(pair.a.channelNotices, []);
    assert.equal(a.sent().length, 1);
  });
});

describe('a completion channel', () => {
  it('serves several CQs and names the one', () => {
    const pair = new Pair();
    const channel = pair.a.channel();
    const cqs = [pair.a.cq(16, channel), pair.a.cq(16, channel)];
    const [remote, local] = [pair.b.mr(8), pair.a.mr(8)];
    for (const sendCq of [cqs[1], cqs[0]]) {
      const { a } = pair.connect({ qpA: { sendCq } });
      sendCq.arm(false);
      a.write(local, remote);
      pair.drive();
    }
    assert.deepEqual(channel.take(), [cqs[1].cqn, cqs[0].cqn]);
  });
});

describe('the solicited bit', () => {
  it('stands in the last packet of a message alone', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { pathMtu: 1 } });
    b.recv(pair.b.mr(700));
    a.send(pair.a.mr(700), { flags: SOLICITED });
    pair.drive();
    assert.deepEqual(
      pair.fromA().map(({ solicited }) => solicited),
      [false, false, true],
    );
  });

  it('of a SEND without the flag is clear', () => {
    const pair = new Pair();
    const { a, b } = pair.connect();
    b.postRecv();
    a.post({ opcode: WrOpcode.SEND });
    pair.drive();
    assert.equal(pair.fromA()[0].solicited, false);
  });
});
