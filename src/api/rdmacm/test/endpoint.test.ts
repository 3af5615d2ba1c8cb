import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  CmEventType,
  createEp,
  createId,
  getAddrInfo,
  PortSpace,
  QpType,
  RefusedError,
  RejectReason,
  SendFlags,
  SrqType,
} from '../../../entry/index.js';
import { assertErrno, assertRejects, message, next, Pair, PASSIVE, PORT, textOf } from './support.js';

/** With an empty label, for which no resolver asks another machine. */
const NOBODY = 'nobody..invalid';

describe('getAddrInfo', () => {
  it('gives the peer’s address', async () => {
    assert.deepEqual(await getAddrInfo('192.0.2.7', 7174), [
      {
        passive: false,
        family: 4,
        qpType: QpType.RC,
        portSpace: PortSpace.TCP,
        src: undefined,
        dst: { host: '192.0.2.7', port: 7174 },
      },
    ]);
  });

  it('gives one’s own to listen on', async () => {
    const [info] = await getAddrInfo(undefined, '7174', { passive: true });
    assert.deepEqual([info.src, info.dst], [{ host: '0.0.0.0', port: 7174 }, undefined]);
    const [six] = await getAddrInfo(undefined, '7174', { passive: true, family: 6 });
    assert.equal(six.src.host, '::');
  });

  it('means loopback when no host is named', async () => {
    const [info] = await getAddrInfo(undefined, 7174);
    assert.equal(info.dst.host, '127.0.0.1');
  });

  it('knows names', async () => {
    const found = await getAddrInfo('localhost', 7174);
    assert.ok(found.length > 0);
    for (const { dst } of found) assert.match(dst.host, /^(127\.|::1$)/);
  });

  it('passes on what is asked for', async () => {
    const src = { host: '10.0.0.1', port: 5 };
    const [info] = await getAddrInfo('10.0.0.2', 1, { qpType: QpType.UD, src });
    assert.deepEqual([info.portSpace, info.src], [PortSpace.UDP, src]);
    const [xrc] = await getAddrInfo('10.0.0.2', 1, { qpType: QpType.XRC_SEND, portSpace: PortSpace.IB });
    assert.deepEqual([xrc.portSpace, xrc.qpType], [PortSpace.IB, QpType.XRC_SEND]);
  });

  it('takes the peer’s address from the hints', async () => {
    const [info] = await getAddrInfo(undefined, undefined, { dst: { host: '10.0.0.2', port: 9 } });
    assert.deepEqual(info.dst, { host: '10.0.0.2', port: 9 });
    const [other] = await getAddrInfo(undefined, 8, { dst: { host: '10.0.0.2', port: 9 } });
    assert.equal(other.dst.port, 8);
  });

  it('refuses what is no question', async () => {
    await assertRejects('EINVAL', getAddrInfo());
    await assertRejects('EINVAL', getAddrInfo('10.0.0.1', 'http'));
    await assertRejects('EINVAL', getAddrInfo('10.0.0.1', 65_536));
    await assertRejects('EINVAL', getAddrInfo('localhost', 1, { numericHost: true }));
    await assertRejects('EINVAL', getAddrInfo('::1', 1, { family: 4 }));
    await assertRejects('EINVAL', getAddrInfo('::1', 1, { qpType: QpType.RC, portSpace: PortSpace.UDP }));
  });

  it('says when nobody knows the name', async () => {
    await assertRejects('ENOENT', getAddrInfo(NOBODY, 1));
  });
});

describe('resolving the address of a name on an identifier', () => {
  it('is told by an event, and taken once', async () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.TCP);
    id.resolveAddrInfo('localhost', PORT);
    assertErrno('EBUSY', () => id.resolveAddrInfo('localhost', PORT));
    assertErrno('ENOENT', () => id.queryAddrInfo());
    const { value: event } = await pair.active[Symbol.asyncIterator]().next();
    assert.equal(event?.event, CmEventType.ADDRINFO_RESOLVED);
    event.ack();
    const [info] = id.queryAddrInfo();
    assert.equal(info.dst?.port, PORT);
    assertErrno('ENOENT', () => id.queryAddrInfo());
    id.destroy();
  });

  it('is told at once where it is an address', () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.TCP);
    id.resolveAddrInfo(PASSIVE, PORT);
    next(pair.active, CmEventType.ADDRINFO_RESOLVED);
    assert.equal(id.queryAddrInfo()[0].dst?.host, PASSIVE);
  });

  it('fails by an event', async () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.TCP);
    id.resolveAddrInfo(NOBODY, PORT);
    const { value: event } = await pair.active[Symbol.asyncIterator]().next();
    assert.deepEqual([event?.event, event?.status], [CmEventType.ADDRINFO_ERROR, -2]);
    id.resolveAddrInfo(PASSIVE, PORT);
  });

  it('of a synchronous identifier takes addresses only', () => {
    using pair = new Pair();
    const id = createId(undefined, PortSpace.TCP, { contexts: [pair.a] });
    assertErrno('EOPNOTSUPP', () => id.resolveAddrInfo('localhost', PORT));
    id.resolveAddrInfo(PASSIVE, PORT);
    assert.equal(id.event?.event, CmEventType.ADDRINFO_RESOLVED);
  });
});

describe('a synchronous identifier', () => {
  it('has the event of each call', () => {
    using pair = new Pair();
    const id = createId(undefined, PortSpace.TCP, { contexts: [pair.a] });
    id.resolveAddr({ host: PASSIVE, port: PORT });
    assert.equal(id.event?.event, CmEventType.ADDR_RESOLVED);
    id.resolveRoute();
    assert.equal(id.event.event, CmEventType.ROUTE_RESOLVED);
    id.destroy();
  });

  it('throws what its event says', () => {
    using pair = new Pair();
    const id = createId(undefined, PortSpace.TCP, { contexts: [pair.a] });
    assertErrno('ENODEV', () => id.resolveAddr({ host: 'fd00::2', port: PORT }));
    id.resolveAddr({ host: PASSIVE, port: PORT });
    id.resolveRoute();
    id.createQp();
    const refusal = assertErrno('ECONNREFUSED', () => id.connect());
    assert.ok(refusal instanceof RefusedError);
    assert.equal(refusal.reason, RejectReason.INVALID_SERVICE_ID);
    assert.equal(id.event?.event, CmEventType.REJECTED);
  });

  it('gives up after a while where nobody is', () => {
    using pair = new Pair();
    const id = createId(undefined, PortSpace.TCP, { contexts: [pair.a] });
    id.resolveAddr({ host: '10.0.0.99', port: PORT });
    id.resolveRoute();
    id.createQp();
    assertErrno('ETIMEDOUT', () => id.connect());
  });

  it('waits no longer than it is told, and learns later what has come', () => {
    using pair = new Pair();
    pair.listen();
    const id = createId(undefined, PortSpace.TCP, { contexts: [pair.a], timeoutMs: 20 });
    id.resolveAddr({ host: PASSIVE, port: PORT });
    id.resolveRoute();
    id.createQp();
    assertErrno('ETIMEDOUT', () => id.connect());
    const request = next(pair.passive, CmEventType.CONNECT_REQUEST);
    request.id.createQp();
    request.id.accept();
    id.migrate(pair.active);
    next(pair.active, CmEventType.ESTABLISHED);
    assertErrno('EINVAL', () => createId(undefined, PortSpace.TCP, { timeoutMs: -1 }));
  });

  it('gives the requests that come to it, synchronous ones', () => {
    using pair = new Pair();
    const listener = createId(undefined, PortSpace.TCP, { contexts: [pair.b] });
    listener.bindAddr({ port: PORT });
    listener.listen();
    const id = pair.resolve();
    id.createQp();
    id.connect({ privateData: Buffer.from('hello') });
    const child = listener.getRequest();
    assert.equal(child.channel, undefined);
    assert.equal(textOf(child.event?.param.conn?.privateData), 'hello');
    assertErrno('EBUSY', () => listener.destroy());
    child.createQp();
    child.accept();
    assert.equal(child.event?.event, CmEventType.ESTABLISHED);
    next(pair.active, CmEventType.ESTABLISHED);
    id.disconnect();
    child.disconnect();
    assert.equal(child.event.event, CmEventType.DISCONNECTED);
    child.destroyEp();
    listener.destroyEp();
  });

  it('waits for requests as long as is said', () => {
    using pair = new Pair();
    const listener = createId(undefined, PortSpace.TCP, { contexts: [pair.b] });
    listener.listen();
    assertErrno('ETIMEDOUT', () => listener.getRequest(5));
    assertErrno('EINVAL', () => pair.listen().getRequest(5));
  });
});

describe('createEp', () => {
  it('gives every request a queue pair like the one that was described', async () => {
    using pair = new Pair();
    const [info] = await getAddrInfo(undefined, PORT, { passive: true });
    const listener = createEp(info, undefined, { cap: { maxRecvWr: 33 } }, { contexts: [pair.b], context: 'mine' });
    assert.deepEqual([listener.getSrcPort(), listener.context, listener.qp], [PORT, 'mine', undefined]);
    listener.listen();
    const id = pair.resolve();
    id.createQp();
    id.connect();
    const child = listener.getRequest();
    assert.ok((child.qp?.cap.maxRecvWr ?? 0) >= 33);
    assert.equal(child.context, 'mine');
    const room = message(child, '');
    child.postRecv(1, room.sge());
    child.accept();
    next(pair.active, CmEventType.ESTABLISHED);
    id.postSend(2, message(id, 'hello').sge(0, 5), SendFlags.SIGNALED);
    assert.equal(child.getRecvComp().byteLen, 5);
    child.destroyEp();
    listener.destroyEp();
  });

  it('makes an active side that is ready to connect', async () => {
    using pair = new Pair();
    pair.listen();
    const src = { host: '10.0.0.1', port: 77 };
    const [info] = await getAddrInfo(PASSIVE, PORT, { src });
    const id = createEp(info, undefined, { sqSigAll: true }, { contexts: [pair.a] });
    assert.deepEqual([id.localAddr, id.peerAddr?.port], [src, PORT]);
    assert.equal(id.qp?.qpType, QpType.RC);
    id.migrate(pair.active);
    id.connect();
    next(pair.passive, CmEventType.CONNECT_REQUEST);
  });

  it('leaves nothing behind when it fails', async () => {
    using pair = new Pair();
    const contexts = [pair.a];
    const [info] = await getAddrInfo('10.0.0.1', 99, { passive: true });
    const first = createEp(info, undefined, undefined, { contexts });
    assertErrno('EADDRINUSE', () => createEp(info, undefined, undefined, { contexts }));
    first.destroyEp();
    const [active] = await getAddrInfo(PASSIVE, PORT, { src: { host: '10.0.0.1', port: 99 } });
    const init = { cap: { maxSendWr: 1e9 } };
    assertErrno('EINVAL', () => createEp(active, undefined, init, { contexts }));
    createEp(active, undefined, {}, { contexts }).destroyEp();
  });

  it('serves extended reliable connections', async () => {
    using pair = new Pair();
    const hints = { portSpace: PortSpace.IB, qpType: QpType.XRC_RECV, passive: true };
    const [own] = await getAddrInfo(undefined, PORT, hints);
    const listener = createEp(own, undefined, {}, { contexts: [pair.b] });
    const srq = listener.createSrq(undefined, { maxWr: 4 });
    assert.equal(srq.srqType, SrqType.XRC);
    listener.listen();
    const [peer] = await getAddrInfo(PASSIVE, PORT, { portSpace: PortSpace.IB, qpType: QpType.XRC_SEND });
    const id = createEp(peer, undefined, {}, { contexts: [pair.a] });
    id.migrate(pair.active);
    id.connect();
    const child = listener.getRequest();
    assert.equal(child.targetQp?.qpType, QpType.XRC_RECV);
    child.accept();
    next(pair.active, CmEventType.ESTABLISHED);
  });
});
