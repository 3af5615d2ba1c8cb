import { test } from 'node:test';
import {
  alloc,
  type Context,
  gidFromIp,
  MwType,
  QpState,
  QpType,
  SendFlags,
  type WorkCompletion,
  WrOpcode,
} from '../../src/entry/index.js';
import { homeAddress, type Specimens, specimensOf, untyped } from './bad-input.js';
import { conformance } from './provider.js';
import { Belongings } from './sides.js';
import { assertErrno, useDevices } from './support.js';

const GROUP = gidFromIp('239.1.2.3');
const PAGE = 4096;

type Calls<T> = Readonly<Record<string, (object: T, living: Specimens, context: Context) => unknown>>;

const pd: Calls<Specimens['pd']> = {
  regMr: (object) => object.regMr(alloc(8)),
  allocNullMr: (object) => object.allocNullMr(),
  allocMw: (object) => object.allocMw(MwType.TYPE_1),
  createQp: (object, { cq }) => object.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq }),
  createSrq: (object) => object.createSrq({ maxWr: 1 }),
  createAh: (object, _, context) => object.createAh(homeAddress(context)),
  adviseMr: (object, { mr }) => object.adviseMr(0, 0, [mr.sge()]),
  dealloc: (object) => object.dealloc(),
};

const mr: Calls<Specimens['mr']> = {
  sge: (object) => object.sge(),
  rereg: (object) => object.rereg({ access: 0 }),
  dereg: (object) => object.dereg(),
};

const mw: Calls<Specimens['type1']> = { dealloc: (object) => object.dealloc() };

const channel: Calls<Specimens['channel']> = {
  getCqEvent: (object) => object.getCqEvent(0),
  tryGetCqEvent: (object) => object.tryGetCqEvent(),
  asyncIterator: (object) => object[Symbol.asyncIterator](),
  destroy: (object) => object.destroy(),
};

const cq: Calls<Specimens['cq']> = {
  poll: (object) => object.poll(),
  reqNotify: (object) => object.reqNotify(),
  ackEvents: (object) => object.ackEvents(0),
  startPoll: (object) => object.startPoll(),
  nextPoll: (object) => object.nextPoll(),
  endPoll: (object) => object.endPoll(),
  resize: (object) => object.resize(4),
  modify: (object) => object.modify({ moderate: { cqCount: 0, cqPeriod: 0 } }),
  workCompletion: (object) => object.workCompletion(),
  destroy: (object) => object.destroy(),
};

const srq: Calls<Specimens['srq']> = {
  modify: (object) => object.modify({ srqLimit: 1 }),
  query: (object) => object.query(),
  postRecv: (object) => object.postRecv({}),
  postRecvSge: (object) => object.postRecvSge(0, 0, 0, 0),
  destroy: (object) => object.destroy(),
};

const ah: Calls<Specimens['ah']> = { destroy: (object) => object.destroy() };
const td: Calls<Specimens['td']> = { dealloc: (object) => object.dealloc() };

const xrcd: Calls<Specimens['xrcd']> = {
  createQp: (object) => object.createQp(),
  openQp: (object) => object.openQp({ qpNum: 17 }),
  close: (object) => object.close(),
};

const qp: Calls<Specimens['qp']> = {
  modify: (object) => object.modify({ qpState: QpState.RESET }),
  query: (object) => object.query(),
  postSend: (object) => object.postSend({ opcode: WrOpcode.SEND }),
  postRecv: (object) => object.postRecv({}),
  postRecvSge: (object) => object.postRecvSge(0, 0, 0, 0),
  wrStart: (object) => object.wrStart(),
  wrComplete: (object) => object.wrComplete(),
  bindMw: (object, { type1 }) => object.bindMw(type1, { sendFlags: SendFlags.SIGNALED, bindInfo: {} }),
  attachMcast: (object) => object.attachMcast(GROUP),
  detachMcast: (object) => object.detachMcast(GROUP),
  modifyRateLimit: (object) => object.modifyRateLimit({ rateLimit: 0 }),
  destroy: (object) => object.destroy(),
};

type Named = Readonly<Record<string, (on: Specimens, living: Specimens, context: Context) => unknown>>;

const on = <T>(pick: (specimens: Specimens) => T, calls: Calls<T>): Named =>
  Object.fromEntries(
    Object.entries(calls).map(([name, call]) => [
      name,
      (specimens: Specimens, living: Specimens, context: Context) => call(pick(specimens), living, context),
    ]),
  );

const CALLS: Readonly<Record<keyof Specimens, Named>> = {
  pd: on((specimens) => specimens.pd, pd),
  mr: on((specimens) => specimens.mr, mr),
  type1: on((specimens) => specimens.type1, mw),
  type2: on((specimens) => specimens.type2, mw),
  channel: on((specimens) => specimens.channel, channel),
  cq: on((specimens) => specimens.cq, cq),
  srq: on((specimens) => specimens.srq, srq),
  ah: on((specimens) => specimens.ah, ah),
  td: on((specimens) => specimens.td, td),
  xrcd: on((specimens) => specimens.xrcd, xrcd),
  qp: on((specimens) => specimens.qp, qp),
};
const KINDS = Object.keys(CALLS) as (keyof Specimens)[]; // the keys of that very record

const WC: WorkCompletion = untyped({ wcFlags: 1, slid: 0, sl: 0, dlidPathBits: 0 });

const CONTEXT: Readonly<Record<string, (context: Context) => unknown>> = {
  queryDevice: (context) => context.queryDevice(),
  queryDeviceEx: (context) => context.queryDeviceEx(),
  queryRtValues: (context) => context.queryRtValues(),
  queryPort: (context) => context.queryPort(),
  queryPortSpeed: (context) => context.queryPortSpeed(),
  queryGid: (context) => context.queryGid(1, 0),
  queryGidEntry: (context) => context.queryGidEntry(1, 0),
  queryGidTable: (context) => context.queryGidTable(),
  queryPkey: (context) => context.queryPkey(1, 0),
  getPkeyIndex: (context) => context.getPkeyIndex(1, 0xffff),
  allocPd: (context) => context.allocPd(),
  allocTd: (context) => context.allocTd(),
  openXrcd: (context) => context.openXrcd(),
  initAhFromWc: (context) => context.initAhFromWc(1, WC, new Uint8Array(40)),
  createCompChannel: (context) => context.createCompChannel(),
  createCq: (context) => context.createCq({ cqe: 1 }),
  getAsyncEvent: (context) => context.getAsyncEvent(0),
  asyncEvents: (context) => context.asyncEvents(),
  ackAsyncEvent: (context) => context.ackAsyncEvent({ eventType: 10, portNum: 1 }),
  counters: (context) => context.counters(),
  close: (context) => context.close(),
};

conformance('objects that were ended', (provider) => {
  const devices = useDevices(provider, 1);

  for (const kind of KINDS) {
    for (const call of Object.keys(CALLS[kind])) {
      test(`take no ${call}: ${kind}`, () => {
        const [context] = devices;
        using keeper = new Belongings();
        const living = specimensOf(context, keeper);
        const passing = new Belongings();
        const ended = specimensOf(context, passing);
        passing[Symbol.dispose]();
        assertErrno('EINVAL', () => CALLS[kind][call](ended, living, context));
      });
    }

    test(`may be disposed of again: ${kind}`, () => {
      const passing = new Belongings();
      const ended = specimensOf(devices[0], passing);
      passing[Symbol.dispose]();
      ended[kind][Symbol.dispose]();
    });
  }
});

conformance('objects of a device that was closed', (provider) => {
  const closed: { readonly objects: Specimens; readonly context: Context }[] = [];
  const open = (): (typeof closed)[number] => {
    const [known] = closed;
    if (closed.length > 0) return known;
    const context = provider.open();
    const objects = specimensOf(context, new Belongings());
    objects.mr.bytes.fill(1, 0, PAGE);
    context.close();
    closed.push({ objects, context });
    return closed[0];
  };

  for (const kind of KINDS) {
    for (const call of Object.keys(CALLS[kind]).filter((name) => name !== 'createAh')) {
      test(`take no ${call}: ${kind}`, () => {
        const { objects, context } = open();
        assertErrno('EINVAL', () => CALLS[kind][call](objects, objects, context));
      });
    }

    test(`may be disposed of: ${kind}`, () => {
      open().objects[kind][Symbol.dispose]();
    });
  }

  for (const [call, act] of Object.entries(CONTEXT)) {
    test(`take no ${call}: the context itself`, () => {
      assertErrno('EINVAL', () => act(open().context));
    });
  }

  test('may be disposed of: the context itself', () => {
    open().context[Symbol.dispose]();
  });
});
