import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AsyncEvent,
  type Context,
  CreateCqAttrFlags,
  EventType,
  eventTypeStr,
  QpState,
  QpType,
  SendFlags,
  type SendWr,
  WcStatus,
  WrOpcode,
} from '../../src/entry/index.js';
import { readOf, writeOf } from './memory-support.js';
import { conformance } from './provider.js';
import { settle, Side, SidePair } from './sides.js';
import {
  assertStatus,
  assertSuccess,
  BOGUS_KEY,
  bringUp,
  End,
  nextEvent,
  Pair,
  pendingEvents,
  perform,
  pollOne,
  pollUntil,
  remoteOf,
  targetOf,
  toInit,
  toRtr,
  toRts,
  useDevices,
} from './support.js';
import { XrcPair } from './xrc.js';

const { ERR, RTS, SQD } = QpState;
const { SEND, RDMA_WRITE_WITH_IMM } = WrOpcode;
const {
  CQ_ERR,
  QP_FATAL,
  QP_REQ_ERR,
  QP_ACCESS_ERR,
  COMM_EST,
  SQ_DRAINED,
  SRQ_ERR,
  SRQ_LIMIT_REACHED,
  QP_LAST_WQE_REACHED,
} = EventType;

/** What providers may say besides. */
const MORE: ReadonlySet<string> = new Set(['vendorErr']);

/** That these events are raised on a device, in this order, and no other. */
function assertEvents(context: Context, ...expected: readonly AsyncEvent[]): void {
  for (const event of expected) {
    const came = nextEvent(context);
    assert.equal(eventTypeStr(came.eventType), eventTypeStr(event.eventType));
    assert.deepEqual(
      Object.keys(came).filter((key) => !MORE.has(key)),
      Object.keys(event),
    );
    // Not by their contents: two objects may be alike.
    for (const [key, object] of Object.entries(event))
      assert.ok(Object.entries(came).find(([name]) => name === key)?.[1] === object, `${key} is another one`);
  }
  assertQuiet(context);
}

function assertQuiet(context: Context): void {
  settle(context);
  assert.deepEqual(
    pendingEvents(context).map(({ eventType }) => eventTypeStr(eventType)),
    [],
  );
}

const sends = (count: number): SendWr[] => Array.from({ length: count }, () => ({ opcode: SEND }));

conformance('events of objects', (provider) => {
  const devices = useDevices(provider);

  const quietPair = (options?: ConstructorParameters<typeof Pair>[1]): Pair => {
    for (const device of devices) pendingEvents(device);
    return new Pair(devices, options);
  };

  test('CQ_ERR names the queue that was overrun, and QP_FATAL the QP that lost a completion by it', () => {
    using pair = new SidePair(devices, {}, { recvCq: { cqe: 4 } });
    const { local, remote } = pair;
    remote.qp.postRecv(Array.from({ length: 8 }, () => ({})));
    local.qp.postSend(sends(8));
    assertEvents(remote.context, { eventType: CQ_ERR, cq: remote.recvCq }, { eventType: QP_FATAL, qp: remote.qp });
    assertQuiet(local.context);
    assert.equal(remote.qp.query().attr.qpState, ERR);
  });

  test('CQ_ERR is raised by the send side, too', () => {
    using pair = new SidePair(devices, { sendCq: { cqe: 4 } }, {});
    const { local, remote } = pair;
    const write = { ...writeOf(local.mr, remoteOf(remote.mr)), sendFlags: SendFlags.SIGNALED };
    local.qp.postSend(Array.from({ length: 8 }, () => write));
    assertEvents(local.context, { eventType: CQ_ERR, cq: local.sendCq }, { eventType: QP_FATAL, qp: local.qp });
    assertQuiet(remote.context);
  });

  test('CQ_ERR is not raised by a queue that was made to lose completions', () => {
    const flags = CreateCqAttrFlags.IGNORE_OVERRUN;
    using pair = new SidePair(devices, {}, { recvCq: { cqe: 4, flags } });
    const { local, remote } = pair;
    remote.qp.postRecv(Array.from({ length: 8 }, () => ({})));
    local.qp.postSend([...sends(7), { opcode: SEND, sendFlags: SendFlags.SIGNALED }]);
    assert.equal(pollOne(local.sendCq).status, WcStatus.SUCCESS);
    assertQuiet(remote.context);
    assert.equal(remote.qp.query().attr.qpState, RTS);
  });

  test('QP_REQ_ERR names the QP of a request that it does not allow, when no receive request says so', () => {
    using pair = quietPair({ remote: { qpAccess: 0 } });
    const { local, remote } = pair;
    assertStatus(local, perform(local, readOf(local.mr, remoteOf(remote.mr))), WcStatus.REM_INV_REQ_ERR);
    assertEvents(remote.context, { eventType: QP_REQ_ERR, qp: remote.qp });
    assertQuiet(local.context);
  });

  test('QP_ACCESS_ERR names the QP of a request that names memory which it may not', () => {
    using pair = quietPair();
    const { local, remote } = pair;
    const rdma = { ...remoteOf(remote.mr), rkey: BOGUS_KEY };
    assertStatus(local, perform(local, writeOf(local.mr, rdma)), WcStatus.REM_ACCESS_ERR);
    assertEvents(remote.context, { eventType: QP_ACCESS_ERR, qp: remote.qp });
    assertQuiet(local.context);
  });

  test('QP_ACCESS_ERR is not raised when a receive request says it', () => {
    using pair = quietPair();
    const { local, remote } = pair;
    const rdma = { ...remoteOf(remote.mr), rkey: BOGUS_KEY };
    remote.qp.postRecv({});
    const wr = { opcode: RDMA_WRITE_WITH_IMM, immData: 1, rdma, sgList: [local.mr.sge(0, 8)] } as const;
    assertStatus(local, perform(local, wr), WcStatus.REM_ACCESS_ERR);
    assertStatus(remote, pollOne(remote.cq), WcStatus.LOC_ACCESS_ERR);
    assertQuiet(remote.context);
  });

  test('COMM_EST names the QP in RTR that a first packet comes to, once', () => {
    using local = new End(devices[0]);
    using remote = new End(devices[1]);
    for (const device of devices) pendingEvents(device);
    toInit(remote.qp);
    toRtr(remote.qp, targetOf(local));
    bringUp(local.qp, targetOf(remote));
    for (let i = 0; i < 3; i += 1) assertSuccess(local, perform(local, writeOf(local.mr, remoteOf(remote.mr))));
    assertEvents(remote.context, { eventType: COMM_EST, qp: remote.qp });
    toRts(remote.qp);
    assertSuccess(local, perform(local, writeOf(local.mr, remoteOf(remote.mr))));
    assertQuiet(remote.context);
  });

  test('COMM_EST is not raised in RTS', () => {
    using pair = quietPair();
    const { local, remote } = pair;
    assertSuccess(local, perform(local, writeOf(local.mr, remoteOf(remote.mr))));
    assertQuiet(remote.context);
  });

  test('SQ_DRAINED names the QP that has come to rest, when it was asked for', () => {
    using pair = quietPair();
    const { local, remote } = pair;
    const write = { ...writeOf(local.mr, remoteOf(remote.mr), 8192), sendFlags: SendFlags.SIGNALED };
    local.qp.postSend(Array.from({ length: 16 }, () => write));
    local.qp.modify({ qpState: SQD, enSqdAsyncNotify: 1 });
    assertEvents(local.context, { eventType: SQ_DRAINED, qp: local.qp });
    assert.equal(local.qp.query().attr.sqDraining, 0);
    local.qp.modify({ qpState: RTS });
    for (const wc of pollUntil(local.cq, 16)) assertSuccess(local, wc);
    assertQuiet(local.context);
  });

  test('SQ_DRAINED is not raised when it was not asked for', () => {
    using pair = quietPair();
    pair.local.qp.modify({ qpState: SQD });
    assertQuiet(pair.local.context);
  });

  test('SRQ_LIMIT_REACHED names the queue that has fewer requests than its limit, once', () => {
    using local = new Side(devices[0]);
    for (const device of devices) pendingEvents(device);
    const pd = local.keep(devices[1].allocPd());
    const srq = local.keep(pd.createSrq({ maxWr: 8, srqLimit: 3 }));
    using remote = new Side(devices[1], { srq });
    bringUp(remote.qp, targetOf(local));
    bringUp(local.qp, targetOf(remote));
    srq.postRecv(Array.from({ length: 5 }, () => ({})));
    const take = (count: number): void => {
      local.qp.postSend(Array.from({ length: count }, () => ({ opcode: SEND, sendFlags: SendFlags.SIGNALED })));
      pollUntil(local.sendCq, count);
    };
    take(2);
    assertQuiet(remote.context);
    assert.equal(srq.query().srqLimit, 3);
    take(1);
    assertEvents(remote.context, { eventType: SRQ_LIMIT_REACHED, srq });
    assert.equal(srq.query().srqLimit, 0);
    take(1);
    assertQuiet(remote.context);
    srq.modify({ srqLimit: 1 });
    take(1);
    assertEvents(remote.context, { eventType: SRQ_LIMIT_REACHED, srq });
  });

  test('QP_LAST_WQE_REACHED names the QP that takes no more from its shared receive queue, once', () => {
    for (const device of devices) pendingEvents(device);
    using local = new Side(devices[0]);
    const pd = local.keep(devices[1].allocPd());
    const srq = local.keep(pd.createSrq({ maxWr: 8 }));
    using remote = new Side(devices[1], { srq });
    bringUp(remote.qp, targetOf(local));
    remote.qp.modify({ qpState: ERR });
    assertEvents(remote.context, { eventType: QP_LAST_WQE_REACHED, qp: remote.qp });
    remote.qp.modify({ qpState: ERR });
    assertQuiet(remote.context);
  });

  test('QP_LAST_WQE_REACHED is not raised by a QP with a receive queue of its own', () => {
    using pair = quietPair();
    pair.remote.qp.modify({ qpState: ERR });
    assertQuiet(pair.remote.context);
  });

  test('SRQ_ERR names the XRC queue whose own CQ was overrun', () => {
    using pair = new XrcPair(devices, { cqe: 4 });
    for (const device of devices) pendingEvents(device);
    const { local, remote } = pair;
    remote.srq.postRecv(Array.from({ length: 8 }, () => ({})));
    local.qp.postSend(Array.from({ length: 8 }, (): SendWr => ({ opcode: SEND, xrc: remote.destination })));
    const { context, cq, srq, qp } = remote;
    assertEvents(context, { eventType: CQ_ERR, cq }, { eventType: QP_FATAL, qp }, { eventType: SRQ_ERR, srq });
  });

  test('name a target of XRC that does not allow a request', () => {
    using pair = new XrcPair(devices, { qpAccess: 0 });
    for (const device of devices) pendingEvents(device);
    const { local, remote } = pair;
    const read = { ...readOf(local.mr, remoteOf(remote.mr)), xrc: remote.destination };
    assertStatus(local, perform(local, read), WcStatus.REM_INV_REQ_ERR);
    assertEvents(remote.context, { eventType: QP_REQ_ERR, qp: remote.qp });
  });

  test('are of no QP that was ended before they were taken', () => {
    using pair = quietPair();
    const { context } = pair.local;
    const other = new End(context, { qpType: QpType.UD });
    bringUp(other.qp);
    other.qp.modify({ qpState: SQD, enSqdAsyncNotify: 1 });
    other[Symbol.dispose]();
    assertQuiet(context);
  });
});
