import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { SoftContext } from '../../../providers/soft/driver/context.js';
import {
  alloc,
  connect,
  Connection,
  type ConnectionRequest,
  type Context,
  listen,
  type Listener,
  RefusedError,
  RejectReason,
  SendFlags,
  WcStatus,
} from '../../../entry/index.js';
import { SimulatedCluster } from '../../../entry/sim.js';
import { ACTIVE, assertErrno, assertRejects, message, PASSIVE, PORT, textOf } from './support.js';

interface Sides extends Disposable {
  readonly a: Context;
  readonly b: Context;
  readonly listener: Listener;
}

function sides(): Sides {
  const cluster = new SimulatedCluster({ seed: 1 });
  const [a, b] = [cluster.open(ACTIVE), cluster.open(PASSIVE)];
  const listener = listen({ port: PORT, context: b });
  return {
    a,
    b,
    listener,
    [Symbol.dispose]: () => {
      listener.close();
      a.close();
      b.close();
    },
  };
}

async function acceptOne(listener: Listener): Promise<Connection> {
  for await (const request of listener) return await request.accept();
  assert.fail('no request');
}

async function connected({ a, listener }: Sides): Promise<readonly [Connection, Connection]> {
  return Promise.all([connect({ host: PASSIVE, port: PORT, context: a }), acceptOne(listener)]);
}

/** That no queue pair and no completion queue is left on a device. */
function assertNothingLeft(context: Context): void {
  assert.ok(context instanceof SoftContext);
  assert.deepEqual([context.pairs.size, context.queues.size], [0, 0]);
}

describe('connect and listen', () => {
  it('make a connection', async () => {
    using all = sides();
    const [a, b] = await connected(all);
    assert.deepEqual([a.remoteAddress, a.localAddress], [b.localAddress, b.remoteAddress]);
    assert.deepEqual(a.remoteAddress, { host: PASSIVE, port: PORT });
    const mr = b.regMsgs(alloc(64));
    b.id.postRecv(1, mr.sge());
    const awaited = b.recvComp();
    a.id.postSend(2, message(a.id, 'hello').sge(0, 5), SendFlags.SIGNALED);
    assert.equal((await a.sendComp()).status, WcStatus.SUCCESS);
    assert.equal((await awaited).byteLen, 5);
    assert.equal(textOf(mr.bytes), 'hello');
    await Promise.all([a.close(), b.close()]);
  });

  it('leave timers and sockets their turn while many ask at once', async () => {
    using all = sides();
    const clients = 100;
    const refused = Array.from({ length: clients }, () =>
      assertRejects('ECONNREFUSED', connect({ host: PASSIVE, port: PORT, context: all.a })),
    );
    (await all.listener.next()).reject();
    let answered = 1;
    // Until then all have asked.
    assertErrno('ETIMEDOUT', () => all.b.createCompChannel().getCqEvent(1000));
    const turn = setImmediate().then(() => answered);
    for (; answered < clients; answered += 1) (await all.listener.next()).reject();
    await Promise.all(refused);
    assert.ok((await turn) < clients, 'the event loop had no turn before all were answered');
  });

  it('exchange private data', async () => {
    using all = sides();
    const client = connect({ host: PASSIVE, port: PORT, context: all.a, privateData: Buffer.from('knock') });
    for await (const request of all.listener) {
      assert.equal(textOf(request.privateData), 'knock');
      assert.equal(request.remoteAddress.host, ACTIVE);
      const server = await request.accept({ privateData: Buffer.from('come in') });
      assert.equal(textOf(server.privateData), 'knock');
      break;
    }
    assert.equal(textOf((await client).privateData), 'come in');
  });

  it('let receive requests be posted before the peer can send', async () => {
    using all = sides();
    const states: unknown[] = [];
    const client = connect({
      host: PASSIVE,
      port: PORT,
      context: all.a,
      qp: { cap: { maxRecvWr: 3 } },
      prepare: (id) => {
        states.push(id.qp?.state);
        id.postRecv(1, message(id, '').sge());
      },
    });
    const server = await acceptOne(all.listener);
    server.id.postSend(1, message(server.id, 'x').sge(0, 1));
    assert.equal((await (await client).recvComp()).wrId, 1n);
    assert.deepEqual(states, [1]);
  });

  it('tell the reason of a refusal', async () => {
    using all = sides();
    const client = connect({ host: PASSIVE, port: PORT, context: all.a });
    const refusal = assertRejects('ECONNREFUSED', client);
    for await (const request of all.listener) {
      request.reject(Buffer.from('full'));
      break;
    }
    const error = await refusal;
    assert.ok(error instanceof RefusedError);
    assert.equal(error.reason, RejectReason.CONSUMER_DEFINED);
    assert.equal(textOf(error.privateData), 'full');
    assert.match(error.message, /turned it down/);
  });

  it('tell that nobody listens', async () => {
    using all = sides();
    const error = await assertRejects('ECONNREFUSED', connect({ host: PASSIVE, port: PORT + 1, context: all.a }));
    assert.match(error.message, /nobody listens/);
  });

  it('tell that nobody is there', async () => {
    using all = sides();
    await assertRejects('ETIMEDOUT', connect({ host: '10.0.0.99', port: PORT, context: all.a }));
  });

  it('tell that no device leads there', async () => {
    using all = sides();
    await assertRejects('ENODEV', connect({ host: 'fd00::9', port: PORT, context: all.a }));
  });

  it('find a host by its name, and tell what its first address said when no other leads anywhere', async () => {
    const cluster = new SimulatedCluster({ seed: 1 });
    using context = cluster.open('127.0.0.9');
    using listener = listen({ port: PORT, context: cluster.open('127.0.0.1') });
    const client = connect({ host: 'localhost', port: PORT, context });
    const server = await (await listener.next()).accept();
    assert.equal((await client).remoteAddress.host, '127.0.0.1');
    await assertRejects('ECONNREFUSED', connect({ host: 'localhost', port: PORT + 1, context }));
    await Promise.all([server.close(), (await client).close()]);
  });

  it('refuse a port that is none', async () => {
    await assertRejects('EINVAL', connect({ host: PASSIVE, port: 0 }));
    // @ts-expect-error as a program that no compiler has checked may write
    await assertRejects('EINVAL', connect());
  });
});

describe('giving up', () => {
  it('before anything has begun rejects with the reason', async () => {
    const reason = new Error('no need');
    await assert.rejects(connect({ host: PASSIVE, port: PORT, signal: AbortSignal.abort(reason) }), reason);
    assert.throws(() => listen({ signal: AbortSignal.abort(reason) }), reason);
  });

  it('at any step leaves nothing behind', async () => {
    using all = sides();
    const accepted: Promise<void>[] = [];
    // Those who are gone cannot be accepted.
    const serve = async (request: ConnectionRequest): Promise<void> =>
      request.accept().then(
        (connection) => connection.close(),
        () => {},
      );
    const server = (async () => {
      for await (const request of all.listener) accepted.push(serve(request));
    })();
    for (let step = 0; step < 40; step += 1) {
      const controller = new AbortController();
      const client = connect({ host: PASSIVE, port: PORT, context: all.a, signal: controller.signal });
      const outcome = client.catch((error: unknown) => error);
      // First the steps between promises, then those between packets.
      for (let turn = 0; turn < step; turn += 1) await (step < 20 ? Promise.resolve() : setImmediate());
      const reason = new Error(`after ${step} turns`);
      controller.abort(reason);
      const result = await outcome;
      if (result instanceof Connection) result[Symbol.dispose]();
      else assert.equal(result, reason);
      assertNothingLeft(all.a);
    }
    all.listener.close();
    await server;
    await Promise.all(accepted);
    assertNothingLeft(all.b);
  });

  it('by time rejects with ETIMEDOUT', async () => {
    using all = sides();
    await assertRejects('ETIMEDOUT', connect({ host: PASSIVE, port: PORT, context: all.a, timeoutMs: 0 }));
  });

  it('while accepting refuses the peer', async () => {
    using all = sides();
    const reason = new Error('changed my mind');
    const client = assertRejects('ECONNREFUSED', connect({ host: PASSIVE, port: PORT, context: all.a }));
    for await (const request of all.listener) {
      await assert.rejects(request.accept({ signal: AbortSignal.abort(reason) }), reason);
      await assertRejects('EINVAL', request.accept());
      break;
    }
    await client;
  });

  it('of a queue pair that cannot be made refuses the peer', async () => {
    using all = sides();
    const client = assertRejects('ECONNREFUSED', connect({ host: PASSIVE, port: PORT, context: all.a }));
    for await (const request of all.listener) {
      await assertRejects('EINVAL', request.accept({ qp: { cap: { maxSendWr: 1e9 } } }));
      break;
    }
    await client;
  });
});

describe('a listener', () => {
  it('says where it listens', () => {
    using all = sides();
    assert.deepEqual(all.listener.address, { host: PASSIVE, port: PORT });
    using other = listen({ context: all.b });
    assert.notEqual(other.address.port, 0);
  });

  it('ends when its loop is left', async () => {
    using all = sides();
    const client = connect({ host: PASSIVE, port: PORT, context: all.a });
    const server = await acceptOne(all.listener);
    using again = listen({ port: PORT, context: all.b });
    assert.equal(again.address.port, PORT);
    assert.equal((await client).remoteAddress.port, server.localAddress.port);
  });

  it('ends its loop when it is closed', async () => {
    using all = sides();
    const loop = acceptOne(all.listener).then(
      () => 'accepted',
      (error: unknown) => String(error),
    );
    await Promise.resolve();
    all.listener.close();
    assert.match(await loop, /no request/);
    all.listener.close();
  });

  it('gives one request after the other', async () => {
    using all = sides();
    const clients = [1, 2].map(() => connect({ host: PASSIVE, port: PORT, context: all.a }));
    const servers = [await (await all.listener.next()).accept(), await (await all.listener.next()).accept()];
    for (const connection of [...(await Promise.all(clients)), ...servers]) connection[Symbol.dispose]();
  });

  it('gives no request once it has ended, or nobody waits any more', async () => {
    using all = sides();
    const controller = new AbortController();
    const given = all.listener.next(controller.signal);
    controller.abort(new Error('enough'));
    await assert.rejects(given, /enough/);
    const awaited = all.listener.next();
    all.listener.close();
    await assertRejects('ECANCELED', awaited);
    await assertRejects('ECANCELED', all.listener.next());
  });

  it('ends by its signal', async () => {
    using all = sides();
    const controller = new AbortController();
    const listener = listen({ port: PORT + 1, context: all.b, signal: controller.signal });
    const requests: unknown[] = [];
    const loop = (async () => {
      for await (const request of listener) requests.push(request);
    })();
    controller.abort();
    await loop;
    assert.deepEqual(requests, []);
    listen({ port: PORT + 1, context: all.b }).close();
  });

  it('refuses those who were waiting when it ends', async () => {
    using all = sides();
    const clients = [1, 2].map(() => connect({ host: PASSIVE, port: PORT, context: all.a }));
    const outcomes = Promise.allSettled(clients);
    const server = await acceptOne(all.listener);
    const states = (await outcomes).map(({ status }) => status).sort();
    assert.deepEqual(states, ['fulfilled', 'rejected']);
    await server.close();
  });

  it('leaves requests that were taken to their takers', async () => {
    using all = sides();
    const client = connect({ host: PASSIVE, port: PORT, context: all.a });
    for await (const request of all.listener) {
      all.listener.close();
      const server = await request.accept();
      assert.equal(server.remoteAddress.host, (await client).localAddress.host);
    }
  });

  it('is refused a port that somebody has', () => {
    using all = sides();
    assertErrno('EADDRINUSE', () => listen({ port: PORT, context: all.b }));
    assertErrno('EADDRNOTAVAIL', () => listen({ host: '10.9.9.9', context: all.b }));
  });

  it('refuses by disposing of a request', async () => {
    using all = sides();
    const client = assertRejects('ECONNREFUSED', connect({ host: PASSIVE, port: PORT, context: all.a }));
    for await (const request of all.listener) {
      request[Symbol.dispose]();
      assertErrno('EINVAL', () => request.reject());
      break;
    }
    await client;
  });
});

describe('the end of a connection', () => {
  it('is told to the peer', async () => {
    using all = sides();
    const [a, b] = await connected(all);
    await a.close();
    await b.closed;
    await b.close();
    assertErrno('EINVAL', () => a.qp.query());
    assertErrno('EINVAL', () => b.qp.query());
  });

  it('flushes what is posted', async () => {
    using all = sides();
    const [a, b] = await connected(all);
    b.id.postRecv(1, message(b.id, '').sge());
    const awaited = b.recvComp();
    await a.close();
    assert.equal((await awaited).status, WcStatus.WR_FLUSH_ERR);
    await b.close();
  });

  it('comes from both sides at once', async () => {
    using all = sides();
    const [a, b] = await connected(all);
    await Promise.all([a.close(), b.close(), a.close()]);
    await Promise.all([a.closed, b.closed]);
  });

  it('comes by `await using` and by `using`', async () => {
    using all = sides();
    let ends: readonly Connection[];
    {
      const [one, two] = await connected(all);
      await using a = one;
      using b = two;
      ends = [a, b];
    }
    for (const { qp } of ends) assertErrno('EINVAL', () => qp.query());
  });

  it('ends the wait for completions', async () => {
    using all = sides();
    const [a, b] = await connected(all);
    const awaited = assertRejects('ECANCELED', a.recvComp());
    await a.close();
    await awaited;
    await b.close();
  });

  it('comes when the device is closed', async () => {
    using all = sides();
    const [a, b] = await connected(all);
    b[Symbol.dispose]();
    await a.closed;
    await a.close();
  });
});
