import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import {
  connect as connectByCm,
  type Connection,
  type Context,
  listen,
  type Listener,
  SendFlags,
  WcStatus,
  WrOpcode,
} from '../../../entry/index.js';
import { SimulatedCluster } from '../../../entry/sim.js';
import { connect, drainOne, makeSide, type Side } from './support/pair.js';

interface Crashing {
  readonly context: Context;
  readonly listener: Listener;
  readonly connection: Connection;
}

/** Two connected queue pairs that ask every 8 ms, twice. */
function openPair(): { cluster: SimulatedCluster; a: Side; b: Side } {
  const cluster = new SimulatedCluster({ seed: 1 });
  const options = { timeout: 11, retryCnt: 2 };
  const [a, b] = ['10.0.0.1', '10.0.0.2'].map((address) => makeSide(cluster.open(address), options));
  connect(a.qp, { qpNum: b.qp.qpNum, dgid: b.context.queryGid(1, 0) }, options);
  connect(b.qp, { qpNum: a.qp.qpNum, dgid: a.context.queryGid(1, 0) }, options);
  return { cluster, a, b };
}

function write(a: Side, b: Side): void {
  const rdma = { remoteAddr: b.mr.addr, rkey: b.mr.rkey };
  a.qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SendFlags.SIGNALED, sgList: [a.mr.sge(0, 8)], rdma });
}

describe('a device that is paused', () => {
  test('answers nothing, and everything when it goes on', () => {
    const { cluster, a, b } = openPair();
    cluster.pause(b.context);
    write(a, b);
    cluster.run(5000);
    const [before] = a.cq.poll(1);
    cluster.resume(b.context);
    assert.deepEqual([before, drainOne(a.cq).status], [undefined, WcStatus.SUCCESS]);
  });

  test('keeps still with what is posted', () => {
    const { cluster, a, b } = openPair();
    cluster.pause(a.context);
    write(a, b);
    cluster.run(5000);
    assert.equal(cluster.network.statistics()['sent'], 0);
  });

  test('is taken for dead by a peer that does not wait for so long', () => {
    const { cluster, a, b } = openPair();
    cluster.pause(b.context);
    write(a, b);
    assert.equal(drainOne(a.cq).status, WcStatus.RETRY_EXC_ERR);
  });

  test('keeps those who wait there in the event loop waiting', async () => {
    const cluster = new SimulatedCluster({ seed: 1 });
    const [a, b] = [cluster.open('10.0.0.1'), cluster.open('10.0.0.2')];
    const listener = listen({ context: b });
    cluster.pause(b);
    cluster.network.at(20_000, () => cluster.resume(b));
    const connecting = connectByCm({ ...listener.address, context: a });
    const request = await listener.next();
    const takenUs = cluster.nowUs;
    await Promise.all([request.accept(), connecting]);
    assert.ok(takenUs >= 20_000, `${takenUs} µs`);
  });
});

describe('a device that crashes', () => {
  test('answers nothing any more', () => {
    const { cluster, a, b } = openPair();
    cluster.crash(b.context);
    write(a, b);
    assert.equal(drainOne(a.cq).status, WcStatus.RETRY_EXC_ERR);
  });

  test('takes no leave of its peers', async () => {
    const cluster = new SimulatedCluster({ seed: 1 });
    const [a, b] = [cluster.open('10.0.0.1'), cluster.open('10.0.0.2')];
    const listener = listen({ context: b });
    const [connection] = await Promise.all([
      connectByCm({ ...listener.address, context: a }),
      listener.next().then((request) => request.accept()),
    ]);
    const sent = cluster.network.statistics()['sent'];
    cluster.crash(b);
    cluster.run();
    assert.equal(cluster.network.statistics()['sent'], sent);
    connection[Symbol.dispose]();
  });

  for (const [what, wait] of [
    ['requests', ({ listener }: Crashing) => listener.next()],
    ['completions', ({ connection }: Crashing) => connection.recvComp()],
    ['the end of a connection', ({ connection }: Crashing) => connection.closed],
    ['asynchronous events', ({ context }: Crashing) => context.asyncEvents()[Symbol.asyncIterator]().next()],
  ] as const)
    test(`takes along who waits there for ${what}: no time passes for them, and they are told nothing`, async () => {
      const cluster = new SimulatedCluster({ seed: 1 });
      const [a, b] = [cluster.open('10.0.0.1'), cluster.open('10.0.0.2')];
      const [atA, listener] = [listen({ context: a }), listen({ context: b })];
      const accepted = atA.next().then((request) => request.accept());
      const connection = await connectByCm({ ...atA.address, context: b });
      (await accepted)[Symbol.dispose]();
      let told = false;
      const tell = (): boolean => (told = true);
      wait({ context: b, listener, connection }).then(tell, tell);
      let passed = false;
      cluster.network.at(cluster.nowUs + 60_000_000, () => (passed = true));
      cluster.crash(b);
      for (let i = 0; i < 100; i += 1) await setImmediate();
      assert.deepEqual([told, passed], [false, false]);
    });

  test('leaves its address to the next one', () => {
    const { cluster, b } = openPair();
    cluster.crash(b.context);
    assert.equal(cluster.open('10.0.0.2').address, b.context.address);
  });

  test('refuses what is asked of it, and lets objects be ended and counters be read', () => {
    const { cluster, b } = openPair();
    cluster.crash(b.context);
    assert.throws(() => b.context.allocPd(), { errno: 'EIO', message: /has crashed/ });
    b.qp.destroy();
    assert.equal(typeof b.context.counters()['sent_pkts'], 'number');
    b.context.close();
  });

  test('must be one of the simulation', () => {
    const { a } = openPair();
    assert.throws(() => new SimulatedCluster({ seed: 1 }).crash(a.context), { errno: 'EINVAL' });
  });
});

describe('the time that a program gives a peer', () => {
  test('is virtual where the device is', async () => {
    const cluster = new SimulatedCluster({ seed: 1 });
    const context = cluster.open('10.0.0.1');
    await assert.rejects(connectByCm({ host: '10.0.0.9', port: 1, context, timeoutMs: 3000 }), { errno: 'ETIMEDOUT' });
    assert.equal(cluster.nowUs, 3_000_000);
  });
});

test('a queue that is polled for ever though nothing is left to happen says so', () => {
  const { a } = openPair();
  assert.throws(
    () => {
      while (a.cq.poll(1).length === 0);
    },
    { errno: 'ETIMEDOUT', message: /nothing is left to happen/ },
  );
});
