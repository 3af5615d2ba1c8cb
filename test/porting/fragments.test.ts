import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import {
  AccessFlags,
  alloc,
  type Context,
  type Cq,
  createEventChannel,
  createId,
  listen,
  type Mr,
  type Pd,
  PortSpace,
  type Qp,
  QpType,
  WcStatus,
  type WorkCompletion,
} from '../../src/entry/index.js';
import { SimulatedCluster } from '../../src/entry/sim.js';
import { pollCompletions, postReceives, postSends, registerMemory } from './fragments/course.js';
import { connectQueuePair, createQueuePair, describeSelf, writeToPeer } from './fragments/labs.js';
import {
  connectUnreliably,
  createDatagramQp,
  postByIdentifier,
  postDatagram,
  replyBySend,
  requestByWrite,
  sequenceOfCommands,
} from './fragments/notes.js';
import { typicalApplication } from './fragments/overview.js';
import { awaitCompletions, cleanUp, connectTo, createQueues, sendAndReceive, writeAt } from './fragments/slides.js';
import { loopback } from '../support/loopback.js';

const ALL = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;

interface Side {
  context: Context;
  pd: Pd;
  cq: Cq;
  mr: Mr;
  qp: Qp;
}

function sideOf(context: Context): Side {
  const pd = context.allocPd();
  const cq = context.createCq({ cqe: 64 });
  return { context, pd, cq, mr: pd.regMr(alloc(4096), ALL), qp: createQueuePair(pd, cq) };
}

/** Two devices on a network in memory, each with a QP that Lab C's calls have connected to the other's. */
function pair(): readonly [Side, Side] {
  const cluster = new SimulatedCluster({ seed: 1 });
  const [a, b] = [sideOf(cluster.open('10.0.0.1')), sideOf(cluster.open('10.0.0.2'))];
  const [infoA, infoB] = [describeSelf(a.context, a.qp, 1, a.mr), describeSelf(b.context, b.qp, 2, b.mr)];
  connectQueuePair(a.qp, infoA, infoB);
  connectQueuePair(b.qp, infoB, infoA);
  return [a, b];
}

function take(cq: Cq, count: number): readonly WorkCompletion[] {
  const taken: WorkCompletion[] = [];
  for (let tries = 0; taken.length < count && tries < 1000; tries += 1) taken.push(...cq.poll());
  assert.deepEqual(
    taken.map(({ status }) => status),
    Array.from({ length: count }, () => WcStatus.SUCCESS),
    taken.map((wc) => cq.context.explain(wc)).join('; '),
  );
  return taken;
}

function output(body: () => void): readonly string[] {
  const log = mock.method(console, 'log', () => {});
  try {
    body();
    return log.mock.calls.map(({ arguments: words }) => words.join(' '));
  } finally {
    log.mock.restore();
  }
}

describe('the fragments of the porting page', () => {
  it('lesson 14 registers and deregisters memory', () => {
    const [{ pd }] = pair();
    assert.match(output(() => registerMemory(pd)).join('\n'), /^addr \d+, length 4096, lkey \d+, rkey \d+$/);
  });

  it('lessons 15 to 17 post every kind of request, and print every completion', () => {
    const [a, b] = pair();
    const [refusal] = output(() => postReceives(b.qp, b.mr));
    assert.match(refusal, /^request 1 \(wr_id 2\): .*2 pieces/, 'its QP takes requests of one piece');
    for (let i = 0; i < 2; i += 1) b.qp.postRecv({ wrId: 3 + i, sgList: [b.mr.sge(2048 + 512 * i, 512)] });
    postSends(a.qp, a.mr, { remoteAddr: b.mr.addr + 1024n, rkey: b.mr.rkey });
    assert.equal(output(() => pollCompletions(a.context, a.cq, 7)).length, 7);
    assert.ok(output(() => pollCompletions(b.context, b.cq, 3)).includes('immediate data 4660'));
  });

  it('the ten steps of a typical application send a message', () => {
    const before = process.env['VERBENA_ADDR'];
    process.env['VERBENA_ADDR'] = loopback(1);
    try {
      assert.equal(typicalApplication(), 'hello');
    } finally {
      if (before === undefined) delete process.env['VERBENA_ADDR'];
      else process.env['VERBENA_ADDR'] = before;
    }
  });

  it('the sequence of commands sends a datagram to itself', () => {
    const [{ context }] = pair();
    const { cq } = sequenceOfCommands(context, { grh: { dgid: context.queryGid(1, 0) } });
    assert.equal(take(cq, 2).length, 2);
  });

  it("librdma's calls post by identifier, over a connection that is made as on the slides", async () => {
    const cluster = new SimulatedCluster({ seed: 1 });
    const [near, far] = [cluster.open('10.0.0.1'), cluster.open('10.0.0.2')];
    using listener = listen({ context: far, port: 7471 });
    using channel = createEventChannel({ contexts: [near] });
    const connecting = connectTo(channel, '10.0.0.2', 7471);
    for await (const request of listener) {
      using server = await request.accept();
      using id = await connecting;
      using mr = id.regMsgs(alloc(4));
      using theirs = server.pd.regMr(alloc(8), ALL);
      server.id.postRecv(0, theirs.sge(4));
      mr.bytes.fill(9);
      postByIdentifier(id, mr.sge(), { remoteAddr: theirs.addr, rkey: theirs.rkey });
      for (const wrId of [1n, 2n, 3n]) {
        const { status, wrId: ended } = await id.nextSendComp();
        assert.deepEqual([status, ended], [WcStatus.SUCCESS, wrId]);
      }
      assert.deepEqual(
        [...theirs.bytes],
        Array.from({ length: 8 }, () => 9),
      );
      break;
    }
  });

  it("librdma's call for datagrams posts by identifier", () => {
    const context = new SimulatedCluster({ seed: 1 }).open('10.0.0.1');
    using channel = createEventChannel({ contexts: [context] });
    using id = createId(channel, PortSpace.UDP);
    id.bindAddr({ host: '10.0.0.1' });
    const qp = id.createQp();
    using mr = id.regMsgs(alloc(64));
    using ah = qp.pd.createAh({ grh: { dgid: context.queryGid(1, 0) } });
    id.postRecv(7, mr.sge());
    postDatagram(id, mr.sge(0, 4), ah, qp.qpNum);
    assert.equal(id.getSendComp().status, WcStatus.SUCCESS);
    assert.equal(id.getRecvComp().wrId, 7n);
  });

  it("HERD's request comes by WRITE over UC, and its reply by SEND over UD", () => {
    const [client, server] = pair();
    const toServer = { grh: { dgid: server.context.queryGid(1, 0) } };
    const toClient = { grh: { dgid: client.context.queryGid(1, 0) } };
    const [ucClient, ucServer] = [client, server].map(({ pd, cq }) =>
      pd.createQp({ qpType: QpType.UC, sendCq: cq, recvCq: cq, cap: { maxInlineData: 64 } }),
    );
    connectUnreliably(ucClient, ucServer, toServer);
    connectUnreliably(ucServer, ucClient, toClient);
    const [udClient, udServer] = [client, server].map(({ pd, cq }) => createDatagramQp(pd, cq));
    udClient.postRecv({ sgList: [client.mr.sge()] });
    requestByWrite(ucClient, { remoteAddr: server.mr.addr, rkey: server.mr.rkey }, Uint8Array.of(1, 2, 3));
    for (let tries = 0; server.mr.bytes[2] === 0 && tries < 1000; tries += 1) server.cq.poll();
    const address = { qpn: udClient.qpNum, qkey: udClient.query().attr.qkey };
    replyBySend(udServer, server.pd.createAh(toClient), address, Uint8Array.of(4, 5, 6));
    take(client.cq, 1);
    assert.deepEqual([...client.mr.bytes.subarray(40, 43)], [4, 5, 6]);
  });

  it('the slides send, receive and write with completion events, and clean up', async () => {
    const context = new SimulatedCluster({ seed: 1 }).open('10.0.0.1');
    const { pd, channel, cq, qp } = createQueues(context);
    const peerMr = pd.regMr(alloc(4096), ALL);
    const own = describeSelf(context, qp, 1, peerMr);
    const init = { pkeyIndex: 0, portNum: 1, qpAccessFlags: AccessFlags.REMOTE_WRITE };
    qp.modify({ qpState: 1, ...init });
    connectQueuePair(qp, own, own);
    const mr = sendAndReceive(pd, qp);
    mr.bytes[0] = 77;
    const ended: bigint[] = [];
    await awaitCompletions(channel, ({ wrId }) => ended.push(wrId) === 2);
    assert.deepEqual(ended.sort(), [0n, 7n]);
    const small = pd.regMr(alloc(16), AccessFlags.LOCAL_WRITE);
    small.bytes[0] = 88;
    writeAt(qp, small, peerMr.addr, 100, peerMr.rkey);
    await awaitCompletions(channel, () => true);
    assert.equal(peerMr.bytes[100], 88);
    small.dereg();
    peerMr.dereg();
    cleanUp(qp, cq, channel, mr, pd);
  });

  it("lab C writes into the peer's memory", () => {
    const [a, b] = pair();
    a.mr.bytes[9] = 99;
    writeToPeer(a.qp, a.mr, describeSelf(b.context, b.qp, 2, b.mr));
    take(a.cq, 1);
    assert.equal(b.mr.bytes[9], 99);
  });
});
