import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, QpState, QpType, WrOpcode } from '../../ibta/index.js';
import { assertCompleted, Pair, pattern } from './pair.js';
import { ahAttrTo, initAttr, rtsAttr } from './qp.js';
import type { SendRequest } from './rings.js';

const BYTES = 3000;

/** Two shared receive queues of one XRC domain, each of a protection domain of its own, and memory of the first. */
function setup() {
  const pair = new Pair();
  const { a, b } = pair;
  const xrcd = b.nic.control.openXrcd();
  const [first, second] = [1, 2].map(() => {
    const pd = b.nic.control.allocPd();
    return { pd, ...b.srq({ pd, xrcd, cq: b.cq(16) }) };
  });
  const initiator = a.qp({ type: QpType.XRC_SEND });
  const target = b.qp({ type: QpType.XRC_RECV, xrcd });
  const rtr = { qpState: QpState.RTR, pathMtu: Mtu.MTU_1024, rqPsn: 0 };
  initiator.modify(initAttr());
  initiator.modify({ ...rtr, ahAttr: ahAttrTo(b.gid), destQpNum: target.qpn });
  initiator.modify(rtsAttr());
  target.modify(initAttr());
  const depth = { maxDestRdAtomic: 16, minRnrTimer: 12 };
  target.modify({ ...rtr, ahAttr: ahAttrTo(a.gid), destQpNum: initiator.qpn, ...depth });
  const remote = b.mr(BYTES, { pd: first.pd });
  remote.bytes.set(pattern(BYTES));
  second.queue.writeReceive({ wrId: 1, sgList: [b.mr(BYTES, { pd: second.pd }).sge()] });
  return { pair, initiator, target, first, second, remote, local: a.mr(BYTES) };
}

type Setup = ReturnType<typeof setup>;

const requests: Readonly<Record<string, (setup: Setup) => SendRequest>> = {
  READ: ({ local, remote }) => ({ opcode: WrOpcode.RDMA_READ, sgList: [local.sge()], ...remote.at(0) }),
  ATOMIC: ({ local, remote }) => ({
    opcode: WrOpcode.ATOMIC_FETCH_AND_ADD,
    sgList: [local.sge(0, 8)],
    ...remote.at(0),
    compareAdd: 1n,
  }),
};

describe('a repeated request to a shared receive queue of one domain, while a message to one of another is open', () => {
  for (const [name, request] of Object.entries(requests))
    it(`is answered from the domain that it was executed in: ${name}`, () => {
      const all = setup();
      const { pair, initiator, target, first, second, local } = all;
      const asked = initiator.post({ ...request(all), remoteQpn: first.srqn });
      pair.drive({ untilUs: 1000 });
      assertCompleted(initiator.sent(), [asked]);
      const [packet] = pair.fromA();
      const answer = pair.fromB().at(-1)?.name;
      pair.script = (sent) => (sent.name === 'XRC_SEND_LAST' ? 'drop' : 'pass');
      const message = initiator.post({ opcode: WrOpcode.SEND, remoteQpn: second.srqn, sgList: [local.sge()] });
      pair.drive({ untilUs: 1100 });
      pair.deliver(packet.from, packet.to, packet.bytes);
      pair.drive({ untilUs: 1200 });
      assert.equal(pair.fromB().at(-1)?.name, answer);
      assert.equal(target.state, QpState.RTR);
      pair.script = undefined;
      pair.drive();
      assertCompleted(initiator.sent(), [message]);
    });
});
