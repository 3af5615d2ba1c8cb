import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import {
  alloc,
  CmEventType,
  connect,
  Connection,
  type ConnectionRequest,
  type ConnectOptions,
  type Context,
  createId,
  listen,
  type Listener,
  PortSpace,
  SendFlags,
} from '../../../entry/index.js';
import { SimulatedCluster } from '../../../entry/sim.js';
import { ACTIVE, assertErrno, assertRejects, Pair, PASSIVE, PORT } from './support.js';

interface Sides extends Disposable {
  readonly a: Context;
  readonly listener: Listener;
  readonly ask: (options?: Partial<ConnectOptions>) => Promise<Connection>;
}

function sides(): Sides {
  const cluster = new SimulatedCluster({ seed: 1 });
  const [a, b] = [cluster.open(ACTIVE), cluster.open(PASSIVE)];
  const listener = listen({ port: PORT, context: b });
  return {
    a,
    listener,
    ask: (options) => connect({ host: PASSIVE, port: PORT, context: a, ...options }),
    [Symbol.dispose]: () => {
      listener.close();
      a.close();
      b.close();
    },
  };
}

/** A request, and what becomes of whoever asks. */
async function requested({ ask, listener }: Sides): Promise<readonly [ConnectionRequest, Promise<unknown>]> {
  const asking = ask().catch((error: unknown) => error);
  return [await listener.next(), asking];
}

function wrong(value: unknown): never {
  // That it is of no type is the point.
  return value as never;
}

describe('a call that blocks while a loop waits on the same channel', () => {
  it('gets the event, for nobody else could do anything meanwhile', async () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.TCP);
    id.resolveAddr({ host: PASSIVE, port: PORT });
    pair.active.getCmEvent().ack();
    id.resolveRoute();
    pair.active.getCmEvent().ack();
    id.createQp();
    const events = pair.active[Symbol.asyncIterator]();
    const waiting = events.next();
    id.connect();
    const event = pair.active.getCmEvent();
    event.ack();
    await events.return?.();
    assert.equal(event.event, CmEventType.REJECTED);
    assert.equal((await waiting).done, true);
  });

  it('leaves to the loop what it has not taken itself', async () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.TCP);
    id.bindAddr({});
    const events = pair.active[Symbol.asyncIterator]();
    const waiting = events.next();
    assertErrno('ETIMEDOUT', () => pair.active.getCmEvent(1));
    id.writeCmEvent(CmEventType.USER, 0, 7n);
    const { value } = await waiting;
    value?.ack();
    assert.equal(value?.param.arg, 7n);
  });
});

describe('a loop that always finds an event', () => {
  it('lets timers fire', async () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.TCP);
    id.bindAddr({});
    const timer = { fired: false };
    setTimeout(() => (timer.fired = true), 0);
    const events = pair.active[Symbol.asyncIterator]();
    for (let rounds = 0; !timer.fired; rounds += 1) {
      assert.ok(rounds < 1e6, 'no timer fired');
      id.writeCmEvent(CmEventType.USER, 0, 7n);
      (await events.next()).value?.ack();
    }
  });
});

describe('prepare', () => {
  it('may take its time: the peer can send once its promise has resolved', async () => {
    using all = sides();
    const [request, asking] = await requested(all);
    const buffer = alloc(64);
    const connection = await request.accept({
      prepare: async (id) => {
        await setImmediate();
        id.postRecv(7n, id.regMsgs(buffer).sge());
      },
    });
    const peer = await asking;
    assert.ok(peer instanceof Connection);
    peer.postSend(0n, peer.regMsgs(alloc(5)).sge(), SendFlags.SIGNALED);
    assert.equal((await connection.recvComp()).wrId, 7n);
    await Promise.all([peer.close(), connection.close()]);
  });

  it('may fail late: the promise of connect rejects with that', async () => {
    using all = sides();
    const prepare = (): Promise<void> => Promise.reject(new Error('no memory left'));
    await assert.rejects(all.ask({ prepare }), /no memory left/);
  });

  it('does not outlast patience', async () => {
    using all = sides();
    const signal = AbortSignal.timeout(1);
    const prepare = (): Promise<void> => new Promise(() => undefined);
    await assert.rejects(all.ask({ prepare, signal }), { name: 'TimeoutError' });
  });

  it('must be a function', async () => {
    using all = sides();
    await assertRejects('EINVAL', all.ask({ prepare: wrong(5) }));
  });
});

describe('connect and listen without a compiler', () => {
  const wrongOptions = [
    { signal: {} },
    { signal: 5 },
    { localAddress: 5 },
    { localAddress: 'here' },
    { localPort: -1 },
    { localPort: 1.5 },
    { localPort: 65_536 },
    { flowControl: 1 },
    { host: '' },
    { host: 5 },
    { port: 0 },
    { port: 65536 },
    { port: 1.5 },
  ];
  for (const options of wrongOptions)
    it(`connect refuses ${JSON.stringify(options)}`, async () => {
      using all = sides();
      await assertRejects('EINVAL', all.ask(wrong(options)));
    });

  it('listen refuses a signal that is none', () => {
    assertErrno('EINVAL', () => listen({ signal: wrong(5) }));
  });

  it('next refuses a signal that is none', async () => {
    using all = sides();
    await assertRejects('EINVAL', all.listener.next(wrong({})));
  });
});

describe('what a wait that failed says', () => {
  it('connect names whoever did not answer', async () => {
    using all = sides();
    const error = await assertRejects('ETIMEDOUT', all.ask({ timeoutMs: 1 }));
    assert.match(error.message, new RegExp(`${PASSIVE}, port ${PORT}`));
  });

  it('a listener that was closed has ended', async () => {
    using all = sides();
    all.listener.close();
    await assertRejects('ECANCELED', all.listener.next());
  });
});
