import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  CmEventType,
  connect,
  type Context,
  createEventChannel,
  createId,
  Errno,
  listen,
  PortSpace,
  RefusedError,
  RejectReason,
} from '../../../entry/index.js';
import { ACTIVE, assertErrno, assertRejects, assertSilent, next, Pair, PASSIVE, PORT, textOf } from './support.js';

/** Takes a host off the network without a word: what its device says on closing goes nowhere. */
function kill(pair: Pair, context: Context): void {
  pair.cluster.network.partition(ACTIVE, PASSIVE);
  context.close();
  pair.cluster.network.heal();
}

describe('a listener that ends and comes back at once', () => {
  it('gets its port, and its old clients, whose connections are still remembered', () => {
    using pair = new Pair();
    const listener = pair.listen();
    const [a, b] = pair.connect();
    listener.destroy();
    b.disconnect();
    next(pair.active, CmEventType.DISCONNECTED);
    a.disconnect();
    next(pair.passive, CmEventType.DISCONNECTED);
    // Both ends are still waiting for what is under way.
    pair.listen();
    pair.connect();
  });

  it('keeps the connections that it had', () => {
    using pair = new Pair();
    const listener = pair.listen();
    const [a] = pair.connect();
    listener.destroy();
    pair.listen();
    assert.equal(pair.active.tryGetCmEvent(), undefined);
    a.disconnect();
    next(pair.passive, CmEventType.DISCONNECTED);
  });

  it('refuses whoever asks in between', () => {
    using pair = new Pair();
    const listener = pair.listen();
    const id = pair.resolve();
    listener.destroy();
    id.createQp();
    id.connect();
    assert.equal(next(pair.active, CmEventType.REJECTED).status, RejectReason.INVALID_SERVICE_ID);
  });

  it('refuses whoever had asked, and was not heard', () => {
    using pair = new Pair();
    const listener = pair.listen();
    const id = pair.resolve();
    id.createQp();
    id.connect();
    pair.cluster.run(pair.cluster.nowUs + 1000);
    listener.destroy();
    assert.equal(next(pair.active, CmEventType.REJECTED).status, RejectReason.CONSUMER_DEFINED);
  });
});

describe('a host that dies and comes back at the same address', () => {
  it('answers for connections that it does not know any more', () => {
    const pair = new Pair();
    pair.listen();
    const [a] = pair.connect();
    kill(pair, pair.b);
    pair.cluster.open(PASSIVE);
    a.disconnect();
    assert.equal(next(pair.active, CmEventType.DISCONNECTED).status, 0);
    next(pair.active, CmEventType.TIMEWAIT_EXIT);
  });

  it('takes connections of clients that have not noticed', () => {
    const pair = new Pair();
    pair.listen();
    pair.connect();
    kill(pair, pair.b);
    const channel = createEventChannel({ contexts: [pair.cluster.open(PASSIVE)] });
    const listener = createId(channel, PortSpace.TCP);
    listener.bindAddr({ port: PORT });
    listener.listen();
    const id = pair.resolve();
    id.createQp();
    id.connect();
    const request = next(channel, CmEventType.CONNECT_REQUEST);
    request.id.createQp();
    request.id.accept();
    next(pair.active, CmEventType.ESTABLISHED);
    next(channel, CmEventType.ESTABLISHED);
  });

  it('and does not come back leaves the one that parts alone with it', () => {
    const pair = new Pair();
    pair.listen();
    const [a] = pair.connect();
    kill(pair, pair.b);
    a.disconnect();
    const { event, status } = pair.active.getCmEvent();
    assert.deepEqual([event, status], [CmEventType.DISCONNECTED, -Errno.ETIMEDOUT]);
  });
});

describe('a server that never accepts', () => {
  it('is unreachable in the end, and hears that its client has given up', () => {
    using pair = new Pair();
    pair.listen();
    const { request } = pair.request();
    assert.equal(pair.active.getCmEvent().status, -Errno.ETIMEDOUT);
    assert.equal(next(pair.passive, CmEventType.REJECTED).status, RejectReason.TIMEOUT);
    assertErrno('EINVAL', () => {
      request.id.createQp();
      request.id.accept();
    });
  });

  it('is not waited for by a client that is in a hurry', async () => {
    using pair = new Pair();
    pair.listen();
    await assertRejects('ETIMEDOUT', connect({ host: PASSIVE, port: PORT, context: pair.a, timeoutMs: 20 }));
    next(pair.passive, CmEventType.CONNECT_REQUEST);
    assert.equal(next(pair.passive, CmEventType.REJECTED).status, RejectReason.TIMEOUT);
  });
});

describe('a rejection', () => {
  it('brings what the server says', () => {
    using pair = new Pair();
    pair.listen();
    const { request } = pair.request();
    request.id.reject(Buffer.from('not today'));
    const { status, param } = next(pair.active, CmEventType.REJECTED);
    assert.deepEqual([status, textOf(param.conn?.privateData)], [RejectReason.CONSUMER_DEFINED, 'not today']);
  });

  it('rejects the promise of a connection, with what the server says', async () => {
    using pair = new Pair();
    await using listener = listen({ port: PORT, context: pair.b });
    const asked = connect({ host: PASSIVE, port: PORT, context: pair.a });
    void listener.next().then((request) => request.reject(Buffer.from('not today')));
    const error = await assertRejects('ECONNREFUSED', asked);
    assert.ok(error instanceof RefusedError);
    assert.deepEqual([error.reason, textOf(error.privateData)], [RejectReason.CONSUMER_DEFINED, 'not today']);
  });
});

describe('an address without a device', () => {
  it('is not bound to', () => {
    using pair = new Pair();
    assertErrno('EADDRNOTAVAIL', () => createId(pair.active, PortSpace.TCP).bindAddr({ host: '10.0.0.77' }));
  });

  it('does not answer', () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.TCP);
    id.resolveAddr({ host: '10.0.0.77', port: PORT });
    next(pair.active, CmEventType.ADDR_RESOLVED);
    id.resolveRoute();
    next(pair.active, CmEventType.ROUTE_RESOLVED);
    id.createQp();
    id.connect();
    const { event, status } = pair.active.getCmEvent();
    assert.deepEqual([event, status], [CmEventType.UNREACHABLE, -Errno.ETIMEDOUT]);
  });

  it('of the other version of IP cannot be reached at all', () => {
    using pair = new Pair();
    createId(pair.active, PortSpace.TCP).resolveAddr({ host: 'fd00::1', port: PORT });
    assert.equal(next(pair.active, CmEventType.ADDR_ERROR).status, -Errno.ENODEV);
  });
});

describe('a port in use', () => {
  it('is refused to another, as long as it is in use', () => {
    using pair = new Pair();
    const listener = pair.listen();
    const other = createId(pair.passive, PortSpace.TCP);
    assertErrno('EADDRINUSE', () => other.bindAddr({ port: PORT }));
    listener.destroy();
    other.bindAddr({ port: PORT });
    other.listen();
  });

  it('is not the same in another port space', () => {
    using pair = new Pair();
    pair.listen();
    pair.listen(PORT, PortSpace.UDP);
  });
});

describe('a program that closes its device under its identifiers', () => {
  it('is told so when it looks for events', () => {
    const pair = new Pair();
    const listener = pair.listen();
    pair.b.close();
    const event = pair.passive.tryGetCmEvent();
    assert.deepEqual([event?.event, event?.id], [CmEventType.DEVICE_REMOVAL, listener]);
  });

  it('is told so when it waits for events', () => {
    const pair = new Pair();
    pair.listen();
    pair.b.close();
    next(pair.passive, CmEventType.DEVICE_REMOVAL);
  });

  it('is told so when it awaits events', async () => {
    const pair = new Pair();
    pair.listen();
    const awaited = pair.passive[Symbol.asyncIterator]().next();
    pair.b.close();
    assert.equal((await awaited).value?.event, CmEventType.DEVICE_REMOVAL);
  });

  it('is told so when it awaits requests', async () => {
    const pair = new Pair();
    const listener = listen({ port: PORT, context: pair.b });
    const awaited = listener.next();
    pair.b.close();
    await assertRejects('EIO', awaited);
    listener.close();
  });

  it('parts from its peers', () => {
    const pair = new Pair();
    pair.listen();
    pair.connect();
    const waiting = pair.request();
    pair.b.close();
    next(pair.active, CmEventType.DISCONNECTED);
    const { id } = next(pair.active, CmEventType.REJECTED);
    assert.equal(id, waiting.id);
    assertSilent(pair.active);
  });
});
