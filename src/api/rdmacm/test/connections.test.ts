import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  alloc,
  CmEventType,
  CmOption,
  createId,
  EventType,
  PortSpace,
  QpState,
  QpType,
  RejectReason,
  SendFlags,
  WcStatus,
} from '../../../entry/index.js';
import { assertErrno, assertSilent, message, next, Pair, PASSIVE, PORT, textOf } from './support.js';

describe('a connection', () => {
  it('comes of a request that is accepted', () => {
    using pair = new Pair();
    const listener = pair.listen();
    const { id, request } = pair.request();
    assert.equal(request.listenId, listener);
    assert.notEqual(request.id, listener);
    request.id.createQp();
    request.id.accept();
    assert.equal(next(pair.passive, CmEventType.ESTABLISHED).id, request.id);
    assert.equal(next(pair.active, CmEventType.ESTABLISHED).id, id);
    assert.deepEqual([id.qp?.state, request.id.qp?.state], [QpState.RTS, QpState.RTS]);
  });

  it('names both ends alike', () => {
    using pair = new Pair();
    pair.listen();
    const [a, b] = pair.connect();
    assert.deepEqual([b.localAddr, b.peerAddr], [a.peerAddr, a.localAddr]);
    assert.deepEqual(b.localAddr, { host: PASSIVE, port: PORT });
    assert.equal(b.verbs, pair.b);
    assert.notEqual(b.route.pathMtu, undefined);
  });

  it('carries messages both ways', () => {
    using pair = new Pair();
    pair.listen();
    for (const [from, to] of [pair.connect(), [...pair.connect()].reverse()]) {
      const room = message(to, '');
      to.postRecv(1, room.sge());
      from.postSend(2, message(from, 'hello').sge(0, 5), SendFlags.SIGNALED);
      assert.equal(from.getSendComp().status, WcStatus.SUCCESS);
      assert.equal(to.getRecvComp().byteLen, 5);
      assert.equal(textOf(room.bytes), 'hello');
    }
  });

  it('lets each end read and write what the other opens', () => {
    using pair = new Pair();
    pair.listen();
    const [a, b] = pair.connect();
    const open = b.regRead(message(b, 'over there').bytes);
    const into = b.regWrite(alloc(16));
    const own = message(a, 'from here');
    a.postRead(1, own.sge(100, 10), SendFlags.SIGNALED, open.addr, open.rkey);
    assert.equal(a.getSendComp().status, WcStatus.SUCCESS);
    assert.equal(Buffer.from(own.bytes).toString('utf8', 100, 110), 'over there');
    a.postWrite(2, own.sge(0, 9), SendFlags.SIGNALED, into.addr, into.rkey);
    assert.equal(a.getSendComp().status, WcStatus.SUCCESS);
    assert.equal(textOf(into.bytes), 'from here');
  });

  it('hands the listener’s context on', () => {
    using pair = new Pair();
    const listener = createId(pair.passive, PortSpace.TCP, { context: 'mine' });
    listener.bindAddr({ port: PORT });
    listener.listen();
    assert.equal(pair.request().request.id.context, 'mine');
  });

  it('may lead from a device to itself', () => {
    using pair = new Pair();
    pair.listen();
    const id = createId(pair.passive, PortSpace.TCP);
    id.resolveAddr({ host: PASSIVE, port: PORT });
    next(pair.passive, CmEventType.ADDR_RESOLVED);
    id.resolveRoute();
    next(pair.passive, CmEventType.ROUTE_RESOLVED);
    id.createQp();
    id.connect();
    const { id: child } = next(pair.passive, CmEventType.CONNECT_REQUEST);
    child.createQp();
    child.accept();
    const both = [next(pair.passive, CmEventType.ESTABLISHED).id, next(pair.passive, CmEventType.ESTABLISHED).id];
    assert.deepEqual(new Set(both), new Set([id, child]));
  });

  it('may be of type UC', () => {
    using pair = new Pair();
    pair.listen();
    const { request } = pair.request({}, { qpType: QpType.UC });
    assert.equal(request.id.qpType, QpType.UC);
    request.id.createQp();
    request.id.accept();
    next(pair.active, CmEventType.ESTABLISHED);
    assert.equal(request.id.qp?.qpType, QpType.UC);
  });

  it('comes about without the program’s help once it was asked for and accepted', () => {
    using pair = new Pair();
    pair.listen();
    const { id, request } = pair.request();
    request.id.createQp();
    request.id.accept();
    pair.cluster.run(pair.cluster.nowUs + 1_000_000);
    assert.deepEqual([id.qp?.state, request.id.qp?.state], [QpState.RTS, QpState.RTS]);
  });
});

describe('private data', () => {
  it('goes with the request and with the answer, zeros at its end', () => {
    using pair = new Pair();
    pair.listen();
    const { request } = pair.request({ privateData: Buffer.from('knock') });
    assert.equal(request.param.conn?.privateData.length, 56);
    assert.equal(textOf(request.param.conn.privateData), 'knock');
    request.id.createQp();
    request.id.accept({ privateData: Buffer.from('come in') });
    const { conn } = next(pair.active, CmEventType.ESTABLISHED).param;
    assert.equal(conn?.privateData.length, 196);
    assert.equal(textOf(conn.privateData), 'come in');
  });

  it('goes with a refusal', () => {
    using pair = new Pair();
    pair.listen();
    const { request } = pair.request();
    request.id.reject(Buffer.from('no room'));
    const { param, status } = next(pair.active, CmEventType.REJECTED);
    assert.equal(status, RejectReason.CONSUMER_DEFINED);
    assert.equal(textOf(param.conn?.privateData), 'no room');
  });

  it('has no more bytes than the message has room for', () => {
    using pair = new Pair();
    pair.listen();
    const id = pair.resolve();
    id.createQp();
    assertErrno('EINVAL', () => id.connect({ privateData: new Uint8Array(57) }));
    id.connect({ privateData: new Uint8Array(56) });
    const request = next(pair.passive, CmEventType.CONNECT_REQUEST);
    request.id.createQp();
    assertErrno('EINVAL', () => request.id.accept({ privateData: new Uint8Array(197) }));
    assertErrno('EINVAL', () => request.id.reject(new Uint8Array(149)));
    request.id.accept({ privateData: new Uint8Array(196) });
    next(pair.active, CmEventType.ESTABLISHED);
  });
});

describe('connection parameters', () => {
  it('are seen from the receiver’s side', () => {
    using pair = new Pair();
    pair.listen();
    const param = { responderResources: 3, initiatorDepth: 5, retryCount: 4, rnrRetryCount: 2, flowControl: true };
    const { request, id } = pair.request(param);
    const { privateData, ...conn } = request.param.conn ?? {};
    assert.deepEqual(conn, {
      responderResources: 5,
      initiatorDepth: 3,
      retryCount: 4,
      rnrRetryCount: 2,
      flowControl: true,
      srq: false,
      qpNum: id.qp?.qpNum,
    });
  });

  it('that are left out are the most that the device has', () => {
    using pair = new Pair();
    pair.listen();
    const { conn } = pair.request().request.param;
    const { maxQpRdAtom, maxQpInitRdAtom } = pair.a.queryDevice();
    assert.deepEqual([conn?.initiatorDepth, conn?.responderResources], [maxQpRdAtom, maxQpInitRdAtom]);
    assert.deepEqual([conn?.retryCount, conn?.rnrRetryCount], [7, 7]);
  });

  it('of an answer are by default what was asked for', () => {
    using pair = new Pair();
    pair.listen();
    const [a, b] = pair.connect({ responderResources: 3, initiatorDepth: 5 });
    const { attr } = b.qp?.query() ?? assert.fail();
    assert.deepEqual([attr.maxDestRdAtomic, attr.maxRdAtomic], [5, 3]);
    const mine = a.qp?.query().attr;
    assert.deepEqual([mine?.maxDestRdAtomic, mine?.maxRdAtomic], [3, 5]);
  });

  it('are refused out of range', () => {
    using pair = new Pair();
    const id = pair.resolve();
    id.createQp();
    const { maxQpRdAtom } = pair.a.queryDevice();
    for (const param of [
      { responderResources: maxQpRdAtom + 1 },
      { initiatorDepth: -1 },
      { retryCount: 8 },
      { rnrRetryCount: 1.5 },
      { privateData: 'text' as unknown as Uint8Array },
    ])
      assertErrno('EINVAL', () => id.connect(param));
    pair.listen();
    id.connect();
  });

  it('may say 255 for the most', () => {
    using pair = new Pair();
    pair.listen();
    const { conn } = pair.request({ responderResources: 255, initiatorDepth: 255 }).request.param;
    assert.equal(conn?.initiatorDepth, pair.a.queryDevice().maxQpRdAtom);
  });

  it('set the type of service of what is sent', () => {
    using pair = new Pair();
    pair.listen();
    const id = pair.resolve();
    id.setOption(CmOption.TOS, 0x48);
    id.createQp();
    id.connect();
    const request = next(pair.passive, CmEventType.CONNECT_REQUEST);
    request.id.createQp();
    request.id.accept();
    next(pair.active, CmEventType.ESTABLISHED);
    assert.equal(id.qp?.query().attr.ahAttr.grh?.trafficClass, 0x48);
  });

  it('set how long an acknowledgement may take', () => {
    using pair = new Pair();
    pair.listen();
    const timeoutWith = (ackTimeout: number | undefined): number | undefined => {
      const id = pair.resolve();
      if (ackTimeout !== undefined) id.setOption(CmOption.ACK_TIMEOUT, ackTimeout);
      id.createQp();
      id.connect();
      const request = next(pair.passive, CmEventType.CONNECT_REQUEST);
      request.id.createQp();
      request.id.accept();
      next(pair.passive, CmEventType.ESTABLISHED);
      next(pair.active, CmEventType.ESTABLISHED);
      return id.qp?.query().attr.timeout;
    };
    assert.notEqual(timeoutWith(20), timeoutWith(undefined));
  });

  it('set how long an acknowledgement may take on the side that accepts', () => {
    using pair = new Pair();
    pair.listen();
    const id = pair.resolve();
    id.createQp();
    id.connect();
    const request = next(pair.passive, CmEventType.CONNECT_REQUEST);
    request.id.setOption(CmOption.ACK_TIMEOUT, 14);
    request.id.createQp();
    request.id.accept();
    next(pair.active, CmEventType.ESTABLISHED);
    assert.equal(request.id.qp?.query().attr.timeout, 14);
  });
});

describe('asking for a connection', () => {
  it('is refused where nobody listens', () => {
    using pair = new Pair();
    const id = pair.resolve();
    id.createQp();
    id.connect();
    assert.equal(next(pair.active, CmEventType.REJECTED).status, RejectReason.INVALID_SERVICE_ID);
    assert.equal(id.qp?.state, QpState.ERR);
  });

  it('ends in UNREACHABLE where nobody is', () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.TCP);
    id.resolveAddr({ host: '10.0.0.99', port: PORT });
    next(pair.active, CmEventType.ADDR_RESOLVED);
    id.resolveRoute();
    next(pair.active, CmEventType.ROUTE_RESOLVED);
    id.createQp();
    id.connect();
    const event = pair.active.getCmEvent();
    assert.deepEqual([event.event, event.status], [CmEventType.UNREACHABLE, -110]);
  });

  it('needs a queue pair, or the number of one', () => {
    using pair = new Pair();
    const id = pair.resolve();
    assertErrno('EINVAL', () => id.connect());
    pair.listen();
    id.connect({ qpNum: 0x1234 });
    assert.equal(next(pair.passive, CmEventType.CONNECT_REQUEST).param.conn?.qpNum, 0x1234);
  });

  it('needs a port', () => {
    using pair = new Pair();
    const id = pair.resolve(0);
    id.createQp();
    assertErrno('EINVAL', () => id.connect());
  });

  it('is taken back by destroying the identifier', () => {
    using pair = new Pair();
    pair.listen();
    const { id, request } = pair.request();
    id.destroy();
    const event = next(pair.passive, CmEventType.REJECTED);
    assert.deepEqual([event.id, event.status], [request.id, RejectReason.TIMEOUT]);
  });
});

describe('a request', () => {
  it('that is destroyed is refused', () => {
    using pair = new Pair();
    pair.listen();
    const { request } = pair.request();
    request.id.destroy();
    assert.equal(next(pair.active, CmEventType.REJECTED).status, RejectReason.CONSUMER_DEFINED);
  });

  it('that nobody took is refused when its listener is destroyed', () => {
    using pair = new Pair();
    const listener = pair.listen();
    const ids = [pair.resolve(), pair.resolve()];
    for (const id of ids) {
      id.createQp();
      id.connect();
    }
    pair.cluster.run(pair.cluster.nowUs + 1_000_000);
    next(pair.passive, CmEventType.CONNECT_REQUEST);
    listener.destroy();
    const { id, status } = next(pair.active, CmEventType.REJECTED);
    assert.deepEqual([id, status], [ids[1], RejectReason.CONSUMER_DEFINED]);
  });

  it('that was on its way when its listener was destroyed is refused', () => {
    using pair = new Pair();
    const listener = pair.listen();
    const id = pair.resolve();
    id.createQp();
    id.connect();
    pair.cluster.run(pair.cluster.nowUs + 1_000_000);
    const other = createId(pair.passive, PortSpace.TCP);
    other.bindAddr({ port: 9 });
    listener.destroy();
    assert.equal(pair.passive.tryGetCmEvent(), undefined);
    assert.equal(next(pair.active, CmEventType.REJECTED).status, RejectReason.CONSUMER_DEFINED);
  });

  it('cannot be accepted twice', () => {
    using pair = new Pair();
    pair.listen();
    const [, b] = pair.connect();
    assertErrno('EINVAL', () => b.accept());
  });

  it('cannot be accepted once it was refused', () => {
    using pair = new Pair();
    pair.listen();
    const { request } = pair.request();
    request.id.reject();
    request.id.createQp();
    assertErrno('EINVAL', () => request.id.accept());
  });
});

describe('a queue pair made elsewhere', () => {
  it('is moved by its program, from CONNECT_RESPONSE on', () => {
    using pair = new Pair();
    pair.listen();
    const id = pair.resolve();
    const cq = pair.a.createCq({ cqe: 8 });
    const qp = pair.a.allocPd().createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq });
    qp.modify(id.initQpAttr(QpState.INIT));
    id.connect({ qpNum: qp.qpNum });
    const request = next(pair.passive, CmEventType.CONNECT_REQUEST);
    request.id.createQp();
    request.id.accept();
    const { conn } = next(pair.active, CmEventType.CONNECT_RESPONSE).param;
    assert.equal(conn?.qpNum, request.id.qp?.qpNum);
    qp.modify(id.initQpAttr(QpState.RTR));
    qp.modify(id.initQpAttr(QpState.RTS));
    id.establish();
    next(pair.passive, CmEventType.ESTABLISHED);
    assertErrno('EINVAL', () => id.establish());
  });

  it('accepts as well', () => {
    using pair = new Pair();
    pair.listen();
    const { id, request } = pair.request();
    const cq = pair.b.createCq({ cqe: 8 });
    const qp = pair.b.allocPd().createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq });
    for (const state of [QpState.INIT, QpState.RTR, QpState.RTS]) qp.modify(request.id.initQpAttr(state));
    request.id.accept({ qpNum: qp.qpNum });
    next(pair.passive, CmEventType.ESTABLISHED);
    next(pair.active, CmEventType.ESTABLISHED);
    const room = pair.b;
    assert.equal(room, qp.context);
    assert.equal(id.qp?.query().attr.destQpNum, qp.qpNum);
  });

  it('is not established by hand where the identifier has its own', () => {
    using pair = new Pair();
    pair.listen();
    const [a] = pair.connect();
    assertErrno('EINVAL', () => a.establish());
  });

  it('has no attributes beyond INIT before the peer has answered', () => {
    using pair = new Pair();
    pair.listen();
    const id = pair.resolve();
    assert.equal(id.initQpAttr(QpState.INIT).qpState, QpState.INIT);
    id.connect({ qpNum: 77 });
    assertErrno('EINVAL', () => id.initQpAttr(QpState.RTR));
  });

  it('has none any more once it has ended, or was refused', () => {
    using pair = new Pair();
    pair.listen();
    const [a, b] = pair.connect();
    assert.equal(b.initQpAttr(QpState.RTS).qpState, QpState.RTS);
    a.disconnect();
    next(pair.passive, CmEventType.DISCONNECTED);
    for (const id of [a, b]) assertErrno('EINVAL', () => id.initQpAttr(QpState.RTR));

    const { id, request } = pair.request();
    request.id.reject();
    next(pair.active, CmEventType.REJECTED);
    for (const end of [id, request.id]) assertErrno('EINVAL', () => end.initQpAttr(QpState.RTS));
  });
});

describe('telling of COMM_EST', () => {
  it('establishes a connection', () => {
    using pair = new Pair();
    pair.listen();
    const { request } = pair.request();
    request.id.createQp();
    request.id.accept();
    request.id.notify(EventType.COMM_EST);
    next(pair.passive, CmEventType.ESTABLISHED);
    assertErrno('EINVAL', () => request.id.notify(EventType.PATH_MIG));
  });
});

describe('disconnecting', () => {
  it('is told on both sides', () => {
    using pair = new Pair();
    pair.listen();
    const [a, b] = pair.connect();
    a.disconnect();
    assert.equal(next(pair.passive, CmEventType.DISCONNECTED).id, b);
    b.disconnect();
    assert.equal(next(pair.active, CmEventType.DISCONNECTED).id, a);
    assert.deepEqual([a.qp?.state, b.qp?.state], [QpState.ERR, QpState.ERR]);
  });

  it('is told by destroying, too', () => {
    using pair = new Pair();
    pair.listen();
    const [a, b] = pair.connect();
    a.destroy();
    assert.equal(next(pair.passive, CmEventType.DISCONNECTED).id, b);
  });

  it('lets the queue pair be used again after a while', () => {
    using pair = new Pair();
    pair.listen();
    const [a, b] = pair.connect();
    a.disconnect();
    next(pair.passive, CmEventType.DISCONNECTED);
    b.disconnect();
    next(pair.passive, CmEventType.TIMEWAIT_EXIT);
    next(pair.active, CmEventType.DISCONNECTED);
    next(pair.active, CmEventType.TIMEWAIT_EXIT);
    assertSilent(pair.active);
  });

  it('flushes what is posted', () => {
    using pair = new Pair();
    pair.listen();
    const [a, b] = pair.connect();
    b.postRecv(9, message(b, '').sge());
    a.disconnect();
    next(pair.passive, CmEventType.DISCONNECTED);
    b.disconnect();
    assert.equal(b.getRecvComp().status, WcStatus.WR_FLUSH_ERR);
  });
});
