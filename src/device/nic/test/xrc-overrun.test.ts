import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventType, Mtu, QpState, QpType, WcStatus, WrOpcode } from '../../ibta/index.js';
import type { TestHost } from './host.js';
import { Pair } from './pair.js';
import { ahAttrTo, initAttr, rtsAttr, type TestQp } from './qp.js';

const TIMES = { timeout: 8, retryCnt: 1, rnrRetry: 1 };

/** An XRC connection from `from` to a target on `to`. */
function connect(from: TestHost, to: TestHost, xrcd: number): { initiator: TestQp; target: TestQp } {
  const initiator = from.qp({ type: QpType.XRC_SEND });
  const target = to.qp({ type: QpType.XRC_RECV, xrcd });
  const rtr = { qpState: QpState.RTR, pathMtu: Mtu.MTU_1024, rqPsn: 0 };
  initiator.modify(initAttr());
  initiator.modify({ ...rtr, ahAttr: ahAttrTo(to.gid), destQpNum: target.qpn });
  initiator.modify(rtsAttr(TIMES));
  target.modify(initAttr());
  target.modify({
    ...rtr,
    ahAttr: ahAttrTo(from.gid),
    destQpNum: initiator.qpn,
    maxDestRdAtomic: 16,
    minRnrTimer: 12,
  });
  return { initiator, target };
}

test('every XRC target that loses a completion in one batch stops, and acknowledges no message that was lost', () => {
  const pair = new Pair();
  const third = pair.host('10.0.0.3');
  const xrcd = pair.b.nic.control.openXrcd();
  const cq = pair.b.cq(1);
  const srq = pair.b.srq({ xrcd, cq });
  const ends = [connect(pair.a, pair.b, xrcd), connect(third, pair.b, xrcd)];
  const mr = pair.b.mr(64);
  for (let i = 0; i < 8; i += 1) srq.queue.writeReceive({ wrId: i, sgList: [mr.sge()] });
  for (const { initiator } of ends)
    for (let i = 0; i < 2; i += 1) initiator.post({ opcode: WrOpcode.SEND, remoteQpn: srq.srqn });
  pair.drive({ untilUs: 1e6 });
  const delivered = ends
    .flatMap(({ initiator }) => initiator.sent())
    .filter(({ status }) => status === WcStatus.SUCCESS);
  assert.ok(delivered.length <= 1, `${String(delivered.length)} messages were acknowledged`);
  assert.deepEqual(
    ends.map(({ target }) => target.state),
    [QpState.ERR, QpState.ERR],
  );
  assert.ok(pair.b.events.some(({ type, srqn }) => type === EventType.SRQ_ERR && srqn === srq.srqn));
});

test('a request for a shared receive queue that failed is refused with a remote operational error', () => {
  const pair = new Pair();
  const xrcd = pair.b.nic.control.openXrcd();
  const cq = pair.b.cq(1);
  const srq = pair.b.srq({ xrcd, cq });
  const first = connect(pair.a, pair.b, xrcd);
  const mr = pair.b.mr(64);
  for (let i = 0; i < 8; i += 1) srq.queue.writeReceive({ wrId: i, sgList: [mr.sge()] });
  for (let i = 0; i < 3; i += 1) first.initiator.post({ opcode: WrOpcode.SEND, remoteQpn: srq.srqn });
  pair.drive({ untilUs: 1e6 });
  const second = connect(pair.a, pair.b, xrcd);
  second.initiator.post({ opcode: WrOpcode.SEND, remoteQpn: srq.srqn });
  pair.drive({ untilUs: 2e6 });
  assert.deepEqual(
    second.initiator.sent().map(({ status }) => status),
    [WcStatus.REM_OP_ERR],
  );
});

test('a target whose shared receive queue is gone does not care what becomes of the CQ that it completed to', () => {
  const pair = new Pair();
  const xrcd = pair.b.nic.control.openXrcd();
  const cq = pair.b.cq(1);
  const srq = pair.b.srq({ xrcd, cq });
  const { initiator, target } = connect(pair.a, pair.b, xrcd);
  srq.queue.writeReceive({ wrId: 1, sgList: [pair.b.mr(64).sge()] });
  initiator.post({ opcode: WrOpcode.SEND, remoteQpn: srq.srqn });
  pair.drive({ untilUs: 1e5 });
  pair.b.nic.control.destroySrq(srq.srqn);
  const other = pair.b.srq({ xrcd, cq });
  other.queue.writeReceive({ wrId: 2, sgList: [] });
  const second = connect(pair.a, pair.b, xrcd);
  second.initiator.post({ opcode: WrOpcode.SEND, remoteQpn: other.srqn });
  pair.drive({ untilUs: 2e5 });
  assert.deepEqual([second.target.state, target.state], [QpState.ERR, QpState.RTR]);
});

test('a message that fills a request of a shared receive queue ends when that is destroyed, and completes nowhere', () => {
  const pair = new Pair();
  const xrcd = pair.b.nic.control.openXrcd();
  const cq = pair.b.cq(4);
  const srq = pair.b.srq({ xrcd, cq });
  const { initiator, target } = connect(pair.a, pair.b, xrcd);
  const mr = pair.b.mr(4096);
  srq.queue.writeReceive({ wrId: 1, sgList: [mr.sge()] });
  const message = pair.a.mrOf(new Uint8Array(3000).fill(1));
  pair.script = ({ name }) => (name === 'XRC_SEND_LAST' ? 'drop' : 'pass');
  initiator.post({ opcode: WrOpcode.SEND, remoteQpn: srq.srqn, sgList: [message.sge()] });
  pair.run(100);
  pair.b.nic.control.destroySrq(srq.srqn);
  pair.b.nic.control.destroyCq(cq.cqn);
  pair.script = undefined;
  pair.drive({ untilUs: 1e6 });
  assert.equal(target.state, QpState.ERR);
  assert.equal(initiator.sent()[0].status, WcStatus.REM_INV_REQ_ERR);
  assert.deepEqual(cq.poll(), []);
});
