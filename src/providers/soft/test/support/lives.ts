/** Every kind of object of the verbs, from its making to its end. */
import {
  AccessFlags,
  alloc,
  type Context,
  type Cq,
  type Gid,
  gidFromIp,
  Mtu,
  MwType,
  type Pd,
  type Qp,
  type QpInitAttr,
  QpState,
  QpType,
  SrqType,
  WcExFlags,
} from '../../../../entry/index.js';
import { loopbackGroup } from '../../../../../test/support/loopback.js';

const MEMORY = alloc(4096);
const GROUP = gidFromIp(loopbackGroup(1));
const QKEY = 0x1111;
const CAP = { maxSendWr: 2, maxRecvWr: 2 };
const INIT = { qpState: QpState.INIT, pkeyIndex: 0, portNum: 1 };

export interface Room {
  readonly context: Context;
  readonly other: Context;
  readonly pd: Pd;
  readonly cq: Cq;
}

/** Makes objects, has somebody look at the device while they are there, and ends them. */
export type Life = (room: Room, meanwhile: () => void) => void;

function makeQp({ pd, cq }: Room, qpType: QpType, more: Partial<QpInitAttr> = {}): Qp {
  return pd.createQp({ qpType, sendCq: cq, recvCq: cq, cap: CAP, ...more });
}

const gidOf = ({ address }: Context): Gid => gidFromIp(address);

/** Brings a reliable queue pair to where it sends, though nobody is there. */
function connect(qp: Qp, dgid: Gid): void {
  qp.modify({ ...INIT, qpAccessFlags: 0 });
  const responds = { maxDestRdAtomic: 1, minRnrTimer: 1 };
  const path = { pathMtu: Mtu.MTU_1024, destQpNum: 17, rqPsn: 0, ahAttr: { grh: { dgid } } };
  qp.modify({ qpState: QpState.RTR, ...path, ...responds });
  qp.modify({ qpState: QpState.RTS, timeout: 14, retryCnt: 7, rnrRetry: 7, sqPsn: 0, maxRdAtomic: 1 });
}

/** Those that every device has. */
export const LIVES: Readonly<Record<string, Life>> = {
  'a protection domain': ({ context }, meanwhile) => {
    using pd = context.allocPd();
    meanwhile();
    pd.dealloc();
  },
  'a parent domain': ({ context, pd }, meanwhile) => {
    using td = context.allocTd();
    using parent = context.allocParentDomain({ pd, td });
    using mr = parent.regMr(MEMORY);
    meanwhile();
    mr.dereg();
  },
  'a region': ({ pd }, meanwhile) => {
    using mr = pd.regMr(MEMORY, AccessFlags.LOCAL_WRITE);
    meanwhile();
    mr.dereg();
  },
  'a region that moves': ({ context, pd }, meanwhile) => {
    using domain = context.allocPd();
    using mr = pd.regMr(MEMORY);
    mr.rereg({ memory: MEMORY });
    mr.rereg({ pd: domain });
    meanwhile();
  },
  'a null region': ({ pd }, meanwhile) => {
    using mr = pd.allocNullMr();
    meanwhile();
    mr.dereg();
  },
  'a window of type 1': ({ pd }, meanwhile) => {
    using mw = pd.allocMw(MwType.TYPE_1);
    meanwhile();
    mw.dealloc();
  },
  'a window of type 2': ({ pd }, meanwhile) => {
    using mw = pd.allocMw(MwType.TYPE_2);
    meanwhile();
    mw.dealloc();
  },
  'a completion channel': ({ context }, meanwhile) => {
    using channel = context.createCompChannel();
    meanwhile();
    channel.destroy();
  },
  'a completion queue': ({ context }, meanwhile) => {
    using cq = context.createCq({ cqe: 2 });
    cq.resize(4);
    cq.modify({ moderate: { cqCount: 2, cqPeriod: 100 } });
    meanwhile();
  },
  'an extended completion queue with a channel': ({ context }, meanwhile) => {
    using channel = context.createCompChannel();
    using cq = context.createCq({ cqe: 2, channel, wcFlags: WcExFlags.WITH_COMPLETION_TIMESTAMP });
    cq.reqNotify();
    meanwhile();
  },
  'a shared receive queue and who takes from it': (room, meanwhile) => {
    using srq = room.pd.createSrq({ maxWr: 2 });
    srq.modify({ maxWr: 4 });
    using qp = makeQp(room, QpType.RC, { srq });
    meanwhile();
    qp.destroy();
  },
  'an XRC domain with all that lives in it': ({ context, pd, cq }, meanwhile) => {
    using xrcd = context.openXrcd();
    using srq = pd.createSrq({ maxWr: 1, srqType: SrqType.XRC, xrcd, cq });
    using target = xrcd.createQp();
    using again = xrcd.openQp({ qpNum: target.qpNum });
    if (srq.srqNum === again.qpNum) throw new Error('one number for two');
    meanwhile();
  },
  'an initiator of XRC': ({ pd, cq }, meanwhile) => {
    using qp = pd.createQp({ qpType: QpType.XRC_SEND, sendCq: cq, cap: { maxSendWr: 2 } });
    meanwhile();
    qp.destroy();
  },
  'an address handle': ({ pd, other }, meanwhile) => {
    using ah = pd.createAh({ grh: { dgid: gidOf(other) } });
    meanwhile();
    ah.destroy();
  },
  'a reliable queue pair': (room, meanwhile) => {
    using qp = makeQp(room, QpType.RC);
    connect(qp, gidOf(room.other));
    qp.postRecv({});
    meanwhile();
  },
  'an unreliable queue pair': (room, meanwhile) => {
    using qp = makeQp(room, QpType.UC);
    meanwhile();
    qp.destroy();
  },
  'a datagram queue pair in a group': (room, meanwhile) => {
    using qp = makeQp(room, QpType.UD);
    qp.modify({ ...INIT, qkey: QKEY });
    qp.attachMcast(GROUP);
    meanwhile();
    qp.detachMcast(GROUP);
  },
};

/** Those that a simulated device has in addition: elsewhere they take a privilege. */
export const PRIVILEGED_LIVES: Readonly<Record<string, Life>> = {
  'a raw packet queue pair': (room, meanwhile) => {
    using qp = makeQp(room, QpType.RAW_PACKET);
    meanwhile();
    qp.destroy();
  },
};
