import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { SendFlags, WcStatus, WrOpcode } from '../../../entry/index.js';
import { SimulatedCluster } from '../../../entry/sim.js';
import { connect, drain, drainOne, makeSide, type PairOptions, pattern, type Side } from './support/pair.js';

type Options = ConstructorParameters<typeof SimulatedCluster>[0];

function openPair(options: Options, pairOptions: PairOptions = {}): { cluster: SimulatedCluster; a: Side; b: Side } {
  const cluster = new SimulatedCluster(options);
  const [a, b] = ['10.0.0.1', '10.0.0.2'].map((address) => makeSide(cluster.open(address), pairOptions));
  connect(a.qp, { qpNum: b.qp.qpNum, dgid: b.context.queryGid(1, 0) }, pairOptions);
  connect(b.qp, { qpNum: a.qp.qpNum, dgid: a.context.queryGid(1, 0) }, pairOptions);
  return { cluster, a, b };
}

function write(a: Side, b: Side, length: number): void {
  const rdma = { remoteAddr: b.mr.addr, rkey: b.mr.rkey };
  a.qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SendFlags.SIGNALED, sgList: [a.mr.sge(0, length)], rdma });
}

describe('a simulated cluster', () => {
  test('repeats a run to the byte, and to the µs, from its seed', () => {
    const run = (seed: number): unknown => {
      const { cluster, a, b } = openPair({ seed, conditions: { loss: 0.05, reordering: 0.05, duplication: 0.05 } });
      const sent = createHash('sha256');
      cluster.network.onPacket = (packet) => {
        sent.update(packet.bytes);
        return 'pass';
      };
      a.mr.bytes.set(pattern(50_000));
      write(a, b, 50_000);
      drainOne(a.cq);
      return { sent: sent.digest('hex'), nowUs: cluster.nowUs };
    };
    assert.deepEqual(run(5), run(5));
    assert.notDeepEqual(run(5), run(6));
  });

  test('lets time pass only when somebody waits', () => {
    const { cluster, a, b } = openPair({ seed: 1, conditions: { delayUs: 1000 } });
    write(a, b, 8);
    const posted = cluster.nowUs;
    drainOne(a.cq);
    // There and back.
    assert.deepEqual([posted, Math.floor(cluster.nowUs / 100)], [0, 20]);
  });

  test('takes years of virtual waiting at once', () => {
    const { cluster, a } = openPair({ seed: 1 });
    assert.throws(() => a.channel.getCqEvent(10_000_000), { errno: 'ETIMEDOUT' });
    assert.equal(cluster.nowUs, 10_000_000_000);
  });

  test('says so when an event that is waited for can never come', () => {
    const { a } = openPair({ seed: 1 });
    assert.throws(() => a.channel.getCqEvent(), { errno: 'EDEADLK', message: /is not armed/ });
    a.cq.reqNotify();
    assert.throws(() => a.channel.getCqEvent(), { errno: 'ETIMEDOUT', message: /nothing is left to happen/ });
  });

  test('runs until nothing is left to happen, or until a time', () => {
    const { cluster, a, b } = openPair({ seed: 1, conditions: { delayUs: 1000 } });
    write(a, b, 8);
    cluster.run(500);
    assert.equal(cluster.nowUs, 500);
    assert.deepEqual(a.cq.poll(), []);
    cluster.run();
    assert.equal(a.cq.poll().length, 1);
  });

  test('shows a dead wire as a retry count exceeded, with the numbers', () => {
    const { cluster, a, b } = openPair({ seed: 1 }, { retryCnt: 2, timeout: 10 });
    cluster.network.partition('10.0.0.1', '10.0.0.2');
    write(a, b, 8);
    const wc = drainOne(a.cq);
    assert.equal(wc.status, WcStatus.RETRY_EXC_ERR);
    assert.match(a.context.explain(wc), /3 transmissions of PSN 0x0 to 10\.0\.0\.2/);
  });

  test('awaits in the event loop', async () => {
    const { a, b } = openPair({ seed: 3, conditions: { loss: 0.2 } });
    const COUNT = 20;
    b.qp.postRecv(Array.from({ length: COUNT }, (_, wrId) => ({ wrId })));
    b.cq.reqNotify();
    a.qp.postSend(Array.from({ length: COUNT }, () => ({ opcode: WrOpcode.SEND }) as const));
    const ids: bigint[] = [];
    for await (const cq of b.channel) {
      cq.ackEvents();
      cq.reqNotify();
      for (const { wrId } of cq.poll(COUNT)) ids.push(wrId);
      if (ids.length === COUNT) break;
    }
    assert.deepEqual(
      ids,
      Array.from({ length: COUNT }, (_, i) => BigInt(i)),
    );
  });

  test('refuses an address that is taken, and one that is none', () => {
    const cluster = new SimulatedCluster({ seed: 1 });
    const context = cluster.open('10.0.0.1');
    assert.throws(() => cluster.open('10.0.0.1'), { errno: 'EADDRINUSE' });
    assert.throws(() => cluster.open('10.0.0.256'), { errno: 'EINVAL' });
    context.close();
    assert.equal(cluster.open('10.0.0.1').address, '10.0.0.1');
  });

  test('answers over IPv6 as well', () => {
    const cluster = new SimulatedCluster({ seed: 1 });
    const a = makeSide(cluster.open('fd00::1'));
    const b = makeSide(cluster.open('fd00::2'));
    connect(a.qp, { qpNum: b.qp.qpNum, dgid: b.context.queryGid(1, 0) });
    connect(b.qp, { qpNum: a.qp.qpNum, dgid: a.context.queryGid(1, 0) });
    write(a, b, 3000);
    assert.deepEqual(
      drain(a.cq, 1).map(({ status }) => status),
      [WcStatus.SUCCESS],
    );
  });
});
