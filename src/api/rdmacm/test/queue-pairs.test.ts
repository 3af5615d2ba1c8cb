import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AccessFlags,
  alloc,
  CmEventType,
  createId,
  PortSpace,
  QpState,
  QpType,
  RDMA_UDP_QKEY,
  SendFlags,
  SrqType,
  WcStatus,
  WrOpcode,
} from '../../../entry/index.js';
import { assertErrno, message, next, Pair, PORT, textOf } from './support.js';

describe('the queue pair of an identifier', () => {
  it('goes to INIT, so that receive requests can be posted', () => {
    using pair = new Pair();
    const id = pair.resolve();
    const qp = id.createQp();
    assert.equal(id.qp, qp);
    assert.deepEqual([qp.state, qp.qpType], [QpState.INIT, QpType.RC]);
    assert.ok((qp.query().attr.qpAccessFlags & AccessFlags.REMOTE_WRITE) !== 0);
    id.postRecv(1, message(id, '').sge());
  });

  it('goes to RTS where datagrams need no peer', () => {
    using pair = new Pair();
    const id = pair.resolve(PORT, PortSpace.UDP);
    const qp = id.createQp();
    assert.deepEqual([qp.state, qp.qpType, qp.query().attr.qkey], [QpState.RTS, QpType.UD, RDMA_UDP_QKEY]);
  });

  it('gets completion queues and channels of its own', () => {
    using pair = new Pair();
    const id = pair.resolve();
    const qp = id.createQp(undefined, { cap: { maxSendWr: 3, maxRecvWr: 40 } });
    assert.deepEqual([id.sendCq, id.recvCq], [qp.sendCq, qp.recvCq]);
    assert.deepEqual([id.sendCqChannel, id.recvCqChannel], [qp.sendCq.channel, qp.recvCq.channel]);
    assert.notEqual(id.sendCqChannel, id.recvCqChannel);
    assert.ok(qp.recvCq.cqe >= 40);
    assert.equal(qp.sendCq.cqContext, id);
  });

  it('takes completion queues that the program has', () => {
    using pair = new Pair();
    const id = pair.resolve();
    const cq = pair.a.createCq({ cqe: 8 });
    const qp = id.createQp(undefined, { sendCq: cq, recvCq: cq });
    assert.deepEqual([qp.sendCq, qp.recvCq, id.sendCq, id.recvCq], [cq, cq, undefined, undefined]);
    assertErrno('EINVAL', () => id.getSendComp(0));
  });

  it('is in a domain that all identifiers on the device share', () => {
    using pair = new Pair();
    const [one, two] = [pair.resolve(), pair.resolve()];
    assert.equal(one.createQp().pd, two.createQp().pd);
    assert.equal(one.pd, one.qp?.pd);
  });

  it('is in a domain of the program’s', () => {
    using pair = new Pair();
    const id = pair.resolve();
    const pd = pair.a.allocPd();
    assert.equal(id.createQp(pd).pd, pd);
    assert.equal(id.pd, pd);
    assert.equal(id.regMsgs(alloc(8)).pd, pd);
  });

  it('is refused for a domain of another device', () => {
    using pair = new Pair();
    const id = pair.resolve();
    assertErrno('EINVAL', () => id.createQp(pair.b.allocPd()));
    id.createQp();
  });

  it('is one at a time', () => {
    using pair = new Pair();
    const id = pair.resolve();
    const first = id.createQp();
    assertErrno('EINVAL', () => id.createQp());
    id.destroyQp();
    assert.equal(id.qp, undefined);
    assertErrno('EINVAL', () => first.query());
    id.createQp();
  });

  it('is of a type that the port space has', () => {
    using pair = new Pair();
    const connected = pair.resolve();
    assertErrno('EINVAL', () => connected.createQp(undefined, { qpType: QpType.UD }));
    assertErrno('EINVAL', () => connected.createQp(undefined, { qpType: QpType.XRC_RECV }));
    assertErrno('EINVAL', () => pair.resolve(PORT, PortSpace.UDP).createQp(undefined, { qpType: QpType.RC }));
  });

  it('leaves nothing behind when it cannot be made', () => {
    using pair = new Pair();
    const id = pair.resolve();
    assertErrno('EINVAL', () => id.createQp(undefined, { cap: { maxSendWr: 1e9 } }));
    assert.deepEqual([id.qp, id.sendCq, id.recvCqChannel], [undefined, undefined, undefined]);
    id.createQp();
  });

  it('ends with what was made for it', () => {
    using pair = new Pair();
    const id = pair.resolve();
    id.createQp();
    const { sendCq, recvCqChannel } = id;
    id.destroyQp();
    assertErrno('EINVAL', () => sendCq?.poll());
    assertErrno('EINVAL', () => recvCqChannel?.tryGetCqEvent());
    assert.equal(id.sendCq, undefined);
    assertErrno('EINVAL', () => id.destroyQp());
  });

  it('may have been ended by its own name', () => {
    using pair = new Pair();
    const id = pair.resolve();
    id.createQp().destroy();
    id.destroyEp();
  });

  it('outlives its identifier', () => {
    using pair = new Pair();
    const id = pair.resolve();
    const qp = id.createQp();
    id.destroy();
    qp.query();
    id.destroyQp();
    assertErrno('EINVAL', () => qp.query());
  });

  it('ends with its endpoint', () => {
    using pair = new Pair();
    const id = pair.resolve();
    const qp = id.createQp();
    id.destroyEp();
    assertErrno('EINVAL', () => qp.query());
    assertErrno('EINVAL', () => id.destroy());
  });

  it('ends by `using`, whether or not events were acknowledged', () => {
    using pair = new Pair();
    let qp;
    {
      using id = createId(pair.active, PortSpace.TCP);
      id.resolveAddr({ host: '10.0.0.2', port: PORT });
      pair.active.getCmEvent();
      qp = id.createQp();
    }
    assertErrno('EINVAL', () => qp.query());
    pair.active.destroy();
  });
});

describe('the shared receive queue of an identifier', () => {
  it('feeds its queue pair', () => {
    using pair = new Pair();
    pair.listen();
    const { id, request } = pair.request();
    const b = request.id;
    const srq = b.createSrq(undefined, { maxWr: 4 });
    assert.equal(b.srq, srq);
    assert.equal(b.createQp().srq, srq);
    const room = message(b, '');
    b.postRecv(7, room.sge());
    b.accept();
    next(pair.passive, CmEventType.ESTABLISHED);
    assert.equal(next(pair.active, CmEventType.ESTABLISHED).param.conn?.srq, true);
    id.postSend(1, message(id, 'shared').sge(0, 6), SendFlags.SIGNALED);
    assert.equal(b.getRecvComp().wrId, 7n);
    assert.equal(textOf(room.bytes), 'shared');
  });

  it('is one at a time, and ends after its queue pair', () => {
    using pair = new Pair();
    const id = pair.resolve();
    id.createSrq(undefined, { maxWr: 4 });
    assertErrno('EINVAL', () => id.createSrq(undefined, { maxWr: 4 }));
    id.createQp();
    assertErrno('EBUSY', () => id.destroySrq());
    id.destroyQp();
    id.destroySrq();
    assertErrno('EINVAL', () => id.destroySrq());
  });
});

describe('an extended reliable connection', () => {
  it('leads from a queue pair that only sends to one that only receives', () => {
    using pair = new Pair();
    const listener = createId(pair.passive, PortSpace.TCP, { qpType: QpType.XRC_RECV });
    listener.bindAddr({ port: PORT });
    const srq = listener.createSrq(undefined, { maxWr: 8 });
    assert.equal(srq.srqType, SrqType.XRC);
    const room = message(listener, '');
    listener.postRecv(3, room.sge());
    listener.listen();
    const { id, request } = pair.request({}, { qpType: QpType.XRC_SEND });
    assert.equal(request.id.qpType, QpType.XRC_RECV);
    assertErrno('EINVAL', () => request.id.createQp());
    const target = request.id.createTargetQp();
    assert.equal(request.id.targetQp, target);
    request.id.accept({ privateData: Buffer.from('number') });
    next(pair.passive, CmEventType.ESTABLISHED);
    next(pair.active, CmEventType.ESTABLISHED);
    id.qp?.postSend({
      opcode: WrOpcode.SEND,
      sendFlags: SendFlags.SIGNALED,
      sgList: [message(id, 'extended').sge(0, 8)],
      xrc: { remoteSrqn: srq.srqNum },
    });
    assert.equal(id.getSendComp().status, WcStatus.SUCCESS);
    assert.equal(listener.getRecvComp().byteLen, 8);
    assert.equal(textOf(room.bytes), 'extended');
    request.id.destroyEp();
    listener.destroyEp();
  });

  it('is only for identifiers that say so', () => {
    using pair = new Pair();
    assertErrno('EINVAL', () => pair.resolve().createTargetQp());
  });
});
