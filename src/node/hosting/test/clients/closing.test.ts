import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  AccessFlags,
  alloc,
  CmEventType,
  type CmId,
  type Context,
  createEventChannel,
  createId,
  type EventChannel,
  gidFromIp,
  MwType,
  PortSpace,
  QpState,
  QpType,
  SendFlags,
  SrqType,
  WcStatus,
  WrOpcode,
} from '../../../../entry/index.js';
import { type SimulatedCluster } from '../../../../entry/sim.js';
import { assertErrno, next } from '../../../../api/rdmacm/test/support.js';
import { holdingsOf } from '../../../../../test/support/holdings.js';
import { connect, drainOne, makeSide, type Side } from '../../../../providers/soft/test/support/pair.js';
import { another, join, openTrio } from './support/clients.js';

const SIZE = 60_000;
/** Longer than whatever waits for something waits. */
const FOR_GOOD_US = 600_000_000;

/** What the NIC of a context holds for others than the driver of that context. */
function heldWith(context: Context, cluster: SimulatedCluster): Readonly<Record<string, number>> {
  cluster.run(cluster.nowUs + FOR_GOOD_US);
  return holdingsOf(context);
}

/** Ways in which a client can be caught: each begins something, on a side that is connected to a peer. */
const situations: Readonly<Record<string, (own: Side, peer: Side, cluster: SimulatedCluster) => void>> = {
  'nothing under way': () => undefined,
  'requests posted that no turn has seen': (own, peer) => write(own, peer),
  'a message half sent': (own, peer, cluster) => {
    write(own, peer);
    cluster.run(cluster.nowUs + 30);
  },
  'requests sent again and again to nobody': (own, peer, cluster) => {
    cluster.network.setConditions({ loss: 1 });
    write(own, peer);
    cluster.run(cluster.nowUs + 5_000_000);
    cluster.network.setConditions({ loss: 0 });
  },
  'READs of its own half answered': (own, peer, cluster) => {
    read(own, peer);
    cluster.run(cluster.nowUs + 30);
  },
  'READs of its peer half answered': (own, peer, cluster) => {
    read(peer, own);
    cluster.run(cluster.nowUs + 30);
  },
  'a peer that is told to wait for a receive request': (own, peer, cluster) => {
    peer.qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [peer.mr.sge(0, 8)] });
    cluster.run(cluster.nowUs + 1000);
  },
  'completions that nobody took, and an event': (own, peer, cluster) => {
    own.cq.reqNotify();
    write(own, peer);
    cluster.run(cluster.nowUs + 1_000_000);
  },
  'completions held back': (own, peer) => {
    own.cq.modify({ moderate: { cqCount: 100, cqPeriod: 60_000 } });
    own.cq.reqNotify();
    write(own, peer);
  },
  'windows bound': (own, peer, cluster) => {
    const mr = own.pd.regMr(alloc(64), AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND);
    const mw = own.pd.allocMw(MwType.TYPE_1);
    own.qp.bindMw(mw, { bindInfo: { mr, addr: mr.addr, length: 64, mwAccessFlags: AccessFlags.REMOTE_READ } });
    cluster.run(cluster.nowUs + 1000);
    own.pd.allocMw(MwType.TYPE_2);
  },
  'a shared receive queue in use': (own, peer, cluster) => {
    const srq = own.pd.createSrq({ maxWr: 8, maxSge: 1 });
    const qp = own.pd.createQp({ qpType: QpType.RC, sendCq: own.cq, recvCq: own.cq, srq });
    srq.postRecv({ wrId: 1, sgList: [own.mr.sge(0, SIZE)] });
    const there = peer.pd.createQp({ qpType: QpType.RC, sendCq: peer.cq, recvCq: peer.cq });
    connect(qp, { qpNum: there.qpNum, dgid: peer.context.queryGid(1, 0) });
    connect(there, { qpNum: qp.qpNum, dgid: own.context.queryGid(1, 0) });
    there.postSend({ opcode: WrOpcode.SEND, sgList: [peer.mr.sge(0, SIZE)] });
    cluster.run(cluster.nowUs + 30);
  },
  'XRC domains, groups and address handles': (own) => {
    const xrcd = own.context.openXrcd();
    xrcd.createQp();
    own.pd.createSrq({ srqType: SrqType.XRC, maxWr: 8, maxSge: 1, xrcd, cq: own.cq });
    const ud = own.pd.createQp({ qpType: QpType.UD, sendCq: own.cq, recvCq: own.cq });
    ud.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: 7 });
    ud.attachMcast(gidFromIp('224.1.2.3'));
    ud.attachMcast(gidFromIp('224.1.2.4'));
    own.pd.createAh({ grh: { dgid: own.context.queryGid(1, 0) } });
    own.context.createCompCntr();
  },
  'a queue pair in ERR, with all flushed': (own) => {
    own.qp.postRecv({ wrId: 1, sgList: [] });
    own.qp.modify({ qpState: QpState.ERR });
  },
};

function write(from: Side, to: Side): void {
  const rdma = { remoteAddr: to.mr.addr, rkey: to.mr.rkey };
  from.qp.postSend({
    opcode: WrOpcode.RDMA_WRITE,
    sendFlags: SendFlags.SIGNALED,
    sgList: [from.mr.sge(0, SIZE)],
    rdma,
  });
}

function read(from: Side, to: Side): void {
  const rdma = { remoteAddr: to.mr.addr, rkey: to.mr.rkey };
  from.qp.postSend({ opcode: WrOpcode.RDMA_READ, sendFlags: SendFlags.SIGNALED, sgList: [from.mr.sge(0, SIZE)], rdma });
}

describe('a client that ends leaves nothing, and others as they were, with', () => {
  for (const [situation, begin] of Object.entries(situations))
    test(situation, () => {
      const { cluster, first, elsewhere } = openTrio({ conditions: { delayUs: 10 } });
      const staying = makeSide(first);
      const partner = makeSide(elsewhere);
      join(staying, partner);
      const before = heldWith(first, cluster);
      const leaving = another(first);
      const own = makeSide(leaving);
      const peer = makeSide(elsewhere);
      join(own, peer);
      begin(own, peer, cluster);
      write(staying, partner);
      leaving.close();
      assert.equal(drainOne(staying.cq).status, WcStatus.SUCCESS);
      assert.deepEqual(heldWith(first, cluster), before);
      assert.throws(() => own.cq.poll(1), { errno: 'EINVAL' });
    });
});

function channelOf(context: Context): EventChannel {
  return createEventChannel({ contexts: [context] });
}

function listenAt(channel: EventChannel, port: number): void {
  const id = createId(channel, PortSpace.TCP);
  id.bindAddr({ port });
  id.listen();
}

function ask(channel: EventChannel, host: string, port: number): CmId {
  const id = createId(channel, PortSpace.TCP);
  id.resolveAddr({ host, port });
  next(channel, CmEventType.ADDR_RESOLVED);
  id.resolveRoute();
  next(channel, CmEventType.ROUTE_RESOLVED);
  id.createQp();
  id.connect();
  return id;
}

/** A client that is going to end, and what the NIC held before it came. */
function openLeaving() {
  const { cluster, first, second, elsewhere } = openTrio({ conditions: { delayUs: 10 } });
  second.close();
  const before = heldWith(first, cluster);
  return { cluster, first, elsewhere, before, leaving: another(first) };
}

describe('of a client that ends', () => {
  test('the peers of its connections are told, and its port is free for others', () => {
    const { cluster, first, elsewhere, before, leaving } = openLeaving();
    const [own, there] = [channelOf(leaving), channelOf(elsewhere)];
    listenAt(own, 7471);
    ask(there, leaving.address, 7471);
    const request = next(own, CmEventType.CONNECT_REQUEST);
    request.id.createQp();
    request.id.accept();
    next(there, CmEventType.ESTABLISHED);
    next(own, CmEventType.ESTABLISHED);
    const third = another(first);
    assertErrno('EADDRINUSE', () => listenAt(channelOf(third), 7471));
    leaving.close();
    next(there, CmEventType.DISCONNECTED);
    listenAt(channelOf(third), 7471);
    third.close();
    assert.deepEqual(heldWith(first, cluster), before);
  });

  test('a request that it has not answered is refused, and one of its own is taken back', () => {
    const { cluster, first, elsewhere, before, leaving } = openLeaving();
    const [own, there] = [channelOf(leaving), channelOf(elsewhere)];
    listenAt(own, 7471);
    ask(there, leaving.address, 7471);
    listenAt(there, 7472);
    ask(own, elsewhere.address, 7472);
    leaving.close();
    const heard = [there.getCmEvent(1000), there.getCmEvent(1000)].map(({ event }) => event);
    assert.deepEqual(heard.sort(), [CmEventType.CONNECT_REQUEST, CmEventType.REJECTED].sort());
    assert.deepEqual(heldWith(first, cluster), before);
  });

  test('others listen on, each at its own port', () => {
    const { cluster, first, second, elsewhere } = openTrio({ conditions: { delayUs: 10 } });
    const [own, others] = [channelOf(second), channelOf(first)];
    listenAt(own, 7471);
    listenAt(others, 7472);
    ask(channelOf(elsewhere), first.address, 7472);
    next(others, CmEventType.CONNECT_REQUEST);
    assertErrno('ETIMEDOUT', () => own.getCmEvent(1));
    second.close();
    ask(channelOf(elsewhere), first.address, 7472);
    next(others, CmEventType.CONNECT_REQUEST);
    cluster.run(cluster.nowUs + 1000);
  });
});
