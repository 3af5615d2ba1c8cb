import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  AccessFlags,
  type Cq,
  gidFromIp,
  MwType,
  PortSpace,
  QpType,
  SendFlags,
  WcStatus,
  type WorkCompletion,
  WrOpcode,
} from '../../../../entry/index.js';
import { administer } from '../../../../entry/sim.js';
import type { Argument, Verb } from '../../../../device/adapter/command.js';
import {
  completionQueueShape,
  createRing,
  recvQueueShape,
  Ring,
  RING_HEADER_WORDS,
  sendQueueShape,
} from '../../../../device/nic/index.js';
import { holdingsOf } from '../../../../../test/support/holdings.js';
import { connect, makeSide } from '../../../../providers/soft/test/support/pair.js';
import { command, hostOf, join, openTrio } from './support/clients.js';

const CAP = { maxSendWr: 4, maxRecvWr: 4, maxSendSge: 1, maxRecvSge: 1, maxInlineData: 0 };
const ring = (bytes: number): ArrayBufferLike => createRing(bytes, false);
const sq = ring(sendQueueShape(4, 1, 0).bytes);
const rq = ring(recvQueueShape(4, 1).bytes);
const bytes = new Uint8Array(64);
const GROUP = gidFromIp('224.1.2.3');

/** Objects of every kind of one client, by their numbers. */
function estate(owner: ReturnType<typeof openTrio>['first']) {
  const run = <V extends Verb>(verb: V, argument: Argument<V>) => command(owner, verb, argument);
  const pd = run('allocPd', undefined);
  const { handle: mr } = run('regMr', {
    pd,
    memory: { kind: 'view', bytes },
    iova: 0x1000n,
    access: AccessFlags.LOCAL_WRITE,
  });
  const { handle: mw } = run('allocMw', { pd, type: MwType.TYPE_2 });
  const channel = run('createCompChannel', ring(1 << 15));
  const counter = run('createCompCntr', { type: 0, memory: new SharedArrayBuffer(16) });
  const cq = run('createCq', { entries: 4, memory: ring(completionQueueShape(4).bytes), channel });
  const xrcd = run('openXrcd', undefined);
  const { srqn: srq } = run('createSrq', { pd, maxWr: 4, maxSge: 1, limit: 0, memory: rq });
  const { qpn: qp } = run('createQp', {
    type: QpType.RC,
    pd,
    sendCq: cq,
    recvCq: cq,
    cap: CAP,
    sqSigAll: false,
    sq,
    rq,
  });
  const { qpn: ud } = run('createQp', {
    type: QpType.UD,
    pd,
    sendCq: cq,
    recvCq: cq,
    cap: CAP,
    sqSigAll: false,
    sq,
    rq,
  });
  run('attachMcast', { qpn: ud, gid: GROUP });
  const ahAttr = { dlid: 0, sl: 0, srcPathBits: 0, staticRate: 0, isGlobal: true, portNum: 1 };
  const grh = { dgid: owner.queryGid(1, 0), flowLabel: 0, sgidIndex: 0, hopLimit: 1, trafficClass: 0 };
  const ah = run('createAh', { pd, attr: { ...ahAttr, grh } });
  const id = run('cmCreateId', { portSpace: PortSpace.TCP });
  return { pd, mr, mw, channel, counter, cq, xrcd, srq, qp, ud, ah, id };
}

type Estate = ReturnType<typeof estate>;
const PARAMETERS = {
  privateData: new Uint8Array(0),
  responderResources: 1,
  initiatorDepth: 1,
  flowControl: false,
  rnrRetryCount: 7,
};

/** Every command that names an object, with one of another client in each place where there can be one. */
function attempts(theirs: Estate, own: Estate): readonly (readonly [Verb, unknown])[] {
  const memory = ring(completionQueueShape(64).bytes);
  const qp = { type: QpType.RC, pd: own.pd, sendCq: own.cq, recvCq: own.cq, cap: CAP, sqSigAll: false, sq, rq };
  const srq = { pd: own.pd, maxWr: 4, maxSge: 1, limit: 0, memory: rq };
  const cmQp = { qpNum: theirs.qp, qpType: QpType.RC, srq: false };
  const asking = { ...PARAMETERS, destination: GROUP, port: 1, retryCount: 7, trafficClass: 0 };
  return [
    ['deallocPd', theirs.pd],
    ['regMr', { pd: theirs.pd, memory: { kind: 'view', bytes }, iova: 0n, access: 0 }],
    ['allocNullMr', theirs.pd],
    ['reregMr', { handle: theirs.mr, access: 0 }],
    ['reregMr', { handle: own.mr, pd: theirs.pd }],
    ['deregMr', theirs.mr],
    ['allocMw', { pd: theirs.pd, type: MwType.TYPE_2 }],
    ['deallocMw', theirs.mw],
    ['destroyCompChannel', theirs.channel],
    ['destroyCompCntr', theirs.counter],
    ['attachCompCntr', { qpn: own.qp, handle: theirs.counter, opMask: 1 }],
    ['attachCompCntr', { qpn: theirs.qp, handle: own.counter, opMask: 1 }],
    ['createCq', { entries: 4, memory, channel: theirs.channel }],
    ['resizeCq', { cqn: theirs.cq, memory, entries: 4 }],
    ['modifyCq', { cqn: theirs.cq, cqCount: 2, cqPeriodUs: 2 }],
    ['destroyCq', theirs.cq],
    ['closeXrcd', theirs.xrcd],
    ['createSrq', { ...srq, pd: theirs.pd }],
    ['createSrq', { ...srq, xrcd: theirs.xrcd, cq: own.cq }],
    ['createSrq', { ...srq, xrcd: own.xrcd, cq: theirs.cq }],
    ['modifySrq', { srqn: theirs.srq, limit: 1 }],
    ['querySrq', theirs.srq],
    ['destroySrq', theirs.srq],
    ['createAh', { pd: theirs.pd, attr: {} }],
    ['destroyAh', theirs.ah],
    ['createQp', { ...qp, pd: theirs.pd }],
    ['createQp', { ...qp, sendCq: theirs.cq }],
    ['createQp', { ...qp, recvCq: theirs.cq }],
    ['createQp', { ...qp, srq: theirs.srq }],
    ['createQp', { ...qp, type: QpType.XRC_RECV, xrcd: theirs.xrcd }],
    ['modifyQp', { qpn: theirs.qp, attr: { qpState: 6 } }],
    ['modifyRateLimit', { qpn: theirs.ud, rateLimitKbps: 1, maxBurstBytes: 0, typicalPacketBytes: 0 }],
    ['queryQp', theirs.qp],
    ['qpCounters', theirs.qp],
    ['destroyQp', theirs.qp],
    ['attachMcast', { qpn: theirs.ud, gid: GROUP }],
    ['detachMcast', { qpn: theirs.ud, gid: GROUP }],
    ['cmBind', { id: theirs.id, port: 0, reuseAddr: false }],
    ['cmListen', { id: theirs.id, backlog: 1 }],
    ['cmConnect', { ...asking, id: theirs.id, qp: { ...cmQp, qpNum: own.qp, managed: true } }],
    ['cmConnect', { ...asking, id: own.id, qp: { ...cmQp, managed: true } }],
    ['cmAccept', { ...PARAMETERS, id: own.id, qp: { ...cmQp, managed: true } }],
    ['cmTaken', theirs.id],
    ['cmReject', { id: theirs.id, privateData: new Uint8Array(0) }],
    ['cmEstablish', theirs.id],
    ['cmNotify', theirs.id],
    ['cmDisconnect', theirs.id],
    ['cmInitQpAttr', { id: theirs.id, qpType: QpType.RC, qpState: 1 }],
    ['cmDestroyId', theirs.id],
  ];
}

describe('a client', () => {
  test('names nothing of another client in any command, and nothing comes of it', () => {
    const { first, second } = openTrio();
    const theirs = estate(first);
    const own = estate(second);
    const before = holdingsOf(first);
    for (const [verb, argument] of attempts(theirs, own))
      assert.throws(
        () => hostOf(second).execute(verb, argument as never),
        { errno: 'EINVAL' },
        `${verb} ${JSON.stringify(argument, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))}`,
      );
    assert.deepEqual(holdingsOf(first), before);
  });

  test("is refused what is another's in the same words as what is nobody's", () => {
    const { first, second } = openTrio();
    const { cq } = estate(first);
    const say = (number: number): string => {
      try {
        command(second, 'destroyCq', number);
      } catch (error) {
        if (error instanceof Error) return error.message.replace(String(number), 'N');
      }
      return 'nothing';
    };
    assert.equal(say(cq), say(987654));
  });

  test('rings for its own queue pairs only', () => {
    const { cluster, first, second, elsewhere } = openTrio();
    const a = makeSide(first);
    const b = makeSide(elsewhere);
    join(a, b);
    // Posted, and not rung for.
    const silent = hostOf(first).doorbells;
    const words = new Int32Array(silent);
    b.qp.postRecv({ wrId: 1, sgList: [b.mr.sge(0, 8)] });
    a.qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [a.mr.sge(0, 8)] });
    words[Ring.PRODUCER] = words[Ring.CONSUMER];
    const page = new Int32Array(hostOf(second).doorbells);
    page[RING_HEADER_WORDS + page[Ring.PRODUCER]] = a.qp.qpNum;
    page[Ring.PRODUCER] += 1;
    cluster.run(1_000_000);
    assert.equal(a.cq.poll(1).length, 0);
    words[Ring.PRODUCER] += 1;
    cluster.run(2_000_000);
    assert.equal(a.cq.poll(1)[0]?.status, WcStatus.SUCCESS);
  });

  test('sends no bytes of another client by its L_Key', () => {
    const { first, second, elsewhere } = openTrio();
    const secret = makeSide(first);
    const thief = makeSide(second);
    const there = makeSide(elsewhere);
    join(thief, there);
    there.qp.postRecv({ wrId: 1, sgList: [there.mr.sge(0, 8)] });
    thief.qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [secret.mr.sge(0, 8)] });
    assert.equal(completionOf(thief.cq)?.status, WcStatus.LOC_PROT_ERR);
  });

  test('lets no peer into memory of another client by its R_Key', () => {
    const { first, second, elsewhere } = openTrio();
    const secret = makeSide(first);
    const open = makeSide(second);
    const there = makeSide(elsewhere);
    connect(there.qp, { qpNum: open.qp.qpNum, dgid: second.queryGid(1, 0) });
    connect(open.qp, { qpNum: there.qp.qpNum, dgid: elsewhere.queryGid(1, 0) });
    const rdma = { remoteAddr: secret.mr.addr, rkey: secret.mr.rkey };
    there.qp.postSend({
      opcode: WrOpcode.RDMA_READ,
      sendFlags: SendFlags.SIGNALED,
      sgList: [there.mr.sge(0, 8)],
      rdma,
    });
    assert.equal(completionOf(there.cq)?.status, WcStatus.REM_ACCESS_ERR);
  });

  test('hears nothing of what happens to identifiers of another', () => {
    const { first, second } = openTrio();
    const { id } = estate(first);
    administer(second, { fatal: true });
    assert.deepEqual(
      command(first, 'cmTakeEvents', 100).map((event) => event.id),
      [id],
    );
    assert.deepEqual(command(second, 'cmTakeEvents', 100), []);
  });
});

/** Polls until a completion comes. */
function completionOf(cq: Cq): WorkCompletion | undefined {
  for (let looks = 0; looks < 100_000; looks += 1) {
    const wc = cq.poll(1).at(0);
    if (wc !== undefined) return wc;
  }
  return undefined;
}
