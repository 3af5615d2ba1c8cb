import {
  AccessFlags,
  mtuBytes,
  MwType,
  QpCreateFlags,
  QpState,
  QpType,
  SrqType,
  type QpModifyAttr,
  type QpType as QpTypeValue,
} from '../../src/entry/index.js';
import { holdingsOf } from '../support/holdings.js';
import { Polled } from '../sim/polled.js';
import { Arena } from './arena.js';
import type {
  CqRecord,
  HostRecord,
  PdRecord,
  QpRecord as Record,
  RegionRecord,
  SrqRecord,
  WindowRecord,
} from './things.js';
import { Life, QpRecord } from './things.js';
import { arm } from './notices.js';
import type { World } from './world.js';

export const ARENA_BYTES = 8192;
const { LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC, MW_BIND, ZERO_BASED, FLUSH_GLOBAL } = AccessFlags;
export const ALL = LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC | MW_BIND | FLUSH_GLOBAL;
const QP_ACCESS = REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC | FLUSH_GLOBAL;
const QKEY = 0x11111111;
/** 4 to 67 ms: longer than packets are under way on any link that loses none. */
const TIMEOUTS = [10, 10, 11, 12, 14];

export function makeHost(world: World, address: string): HostRecord {
  const context = world.cluster.open(address);
  const fresh = holdingsOf(context);
  const channel = context.createCompChannel();
  const host: HostRecord = {
    id: world.nextId(),
    address,
    context,
    channel,
    xrcd: context.openXrcd(),
    limits: context.queryDevice(),
    fresh,
    arena: new Arena(ARENA_BYTES, world.random.u32),
    up: true,
    paused: false,
    lazy: world.random.chance(0.2),
    read: 0,
    onlySolicited: world.random.chance(0.3),
    pds: [],
    ahs: [],
    cqs: [],
    regions: [],
    windows: [],
    srqs: [],
    qps: [],
    packets: world.packetBook.of(address),
    polled: new Polled(),
  };
  world.hosts.push(host);
  makePd(world, host);
  return host;
}

export function makePd(world: World, host: HostRecord): PdRecord {
  const pd = { id: world.nextId(), api: host.context.allocPd() };
  host.pds.push(pd);
  return pd;
}

export function somePd(world: World, host: HostRecord): PdRecord {
  if (host.pds.length < 3 && world.random.chance(0.1)) return makePd(world, host);
  return world.pick(host.pds) ?? makePd(world, host);
}

export function makeCq(world: World, host: HostRecord): CqRecord {
  const { random } = world;
  const cqe = world.slips(0.1) ? random.between(1, 16) : 256;
  const api = host.context.createCq({ cqe, channel: host.channel });
  const cq: CqRecord = {
    id: world.nextId(),
    api,
    capacity: api.cqe,
    dead: false,
    onlySolicited: host.onlySolicited && random.chance(0.6),
    armed: 'no',
    called: 'no',
    fresh: true,
  };
  arm(cq);
  host.cqs.push(cq);
  return cq;
}

export function someCq(world: World, host: HostRecord): CqRecord {
  const there = host.cqs.filter(({ dead }) => !dead);
  return (world.random.chance(0.6) ? world.pick(there) : undefined) ?? makeCq(world, host);
}

/** Where a region may lie: some begin and end within a word, many share bytes. */
export function someRange(world: World, leastBytes = 1): { at: number; lengthBytes: number } {
  const { random } = world;
  const lengthBytes = Math.max(leastBytes, random.pick([64, 1000, 1200, 2048, 4096, 4096, random.between(1, 6000)]));
  const most = ARENA_BYTES - lengthBytes;
  const at = random.chance(0.8) ? 8 * random.below(Math.floor(most / 8) + 1) : random.below(most + 1);
  return { at, lengthBytes };
}

export function someAccess(world: World): number {
  const { random } = world;
  if (random.chance(0.6)) return ALL;
  let access = random.u32() & (REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC | MW_BIND | FLUSH_GLOBAL | LOCAL_WRITE);
  if ((access & (REMOTE_WRITE | REMOTE_ATOMIC)) !== 0) access |= LOCAL_WRITE;
  return random.chance(0.1) ? access | ZERO_BASED : access;
}

export function makeRegion(
  world: World,
  host: HostRecord,
  pd: PdRecord,
  access: number,
  leastBytes = 1,
): RegionRecord | undefined {
  const { at, lengthBytes } = someRange(world, leastBytes);
  const api = world.attempt(`${host.address} registers ${lengthBytes} bytes at ${at}, access ${access}`, ['ok'], () =>
    pd.api.regMr(host.arena.bytes.subarray(at, at + lengthBytes), access),
  );
  if (api === undefined) return undefined;
  const region: RegionRecord = {
    id: world.nextId(),
    api,
    host,
    pd,
    access,
    at,
    lengthBytes,
    iova: api.iova,
    alive: true,
  };
  host.regions.push(region);
  return region;
}

export function makeWindow(world: World, host: HostRecord): void {
  const pd = somePd(world, host);
  const type = world.random.chance(0.35) ? MwType.TYPE_1 : MwType.TYPE_2;
  const api = world.attempt(`${host.address} makes a window of type ${type}`, ['ok'], () => pd.api.allocMw(type));
  if (api === undefined) return;
  const window: WindowRecord = {
    id: world.nextId(),
    api,
    host,
    type,
    pd,
    alive: true,
    binding: undefined,
    possible: new Set(),
    unsure: false,
    epoch: 0,
    pending: new Set(),
  };
  host.windows.push(window);
}

export function makeSrq(world: World, host: HostRecord, xrc: boolean): SrqRecord {
  const { random } = world;
  const pd = somePd(world, host);
  const maxWr = random.pick([1, 4, 16, 32]);
  const xrcCq = xrc ? someCq(world, host) : undefined;
  const more = xrcCq === undefined ? {} : { srqType: SrqType.XRC, xrcd: host.xrcd, cq: xrcCq.api };
  const limit = random.chance(0.5) ? random.between(1, maxWr) : 0;
  const api = pd.api.createSrq({ maxWr, maxSge: 3, srqLimit: limit, ...more });
  const srq: SrqRecord = {
    id: world.nextId(),
    api,
    host,
    pd,
    xrcCq,
    recvs: [],
    maxWr: api.maxWr,
    lives: 1,
    alive: true,
    limit,
    wasAbove: false,
    lost: 0,
    reached: 0,
  };
  host.srqs.push(srq);
  return srq;
}

export function makeQp(world: World, host: HostRecord, type: QpTypeValue): Record {
  const { random } = world;
  if (type === QpType.XRC_RECV) {
    const api = host.xrcd.createQp();
    const target = new QpRecord(world.nextId(), host, type, api, undefined, undefined, undefined, undefined, false);
    host.qps.push(target);
    for (const srq of host.srqs) srq.lives += 1;
    return target;
  }
  const pd = somePd(world, host);
  const sendCq = someCq(world, host);
  const recvCq = random.chance(0.5) ? sendCq : someCq(world, host);
  const shares = type !== QpType.XRC_SEND && random.chance(0.25);
  const basic = host.srqs.filter(({ xrcCq }) => xrcCq === undefined);
  const srq = shares ? (world.pick(basic) ?? makeSrq(world, host, false)) : undefined;
  const sqSigAll = random.chance(0.2);
  const blocksOwn = type === QpType.UD && random.chance(0.3);
  const api = pd.api.createQp({
    ...(blocksOwn ? { createFlags: QpCreateFlags.BLOCK_SELF_MCAST_LB } : {}),
    qpType: type,
    sendCq: sendCq.api,
    recvCq: recvCq.api,
    sqSigAll,
    cap: {
      maxSendWr: random.pick([1, 2, 4, 8, 16, 32]),
      maxRecvWr: random.pick([1, 2, 4, 16, 16]),
      maxSendSge: 3,
      maxRecvSge: 3,
      maxInlineData: random.pick([0, 32, 200]),
    },
    ...(srq === undefined ? {} : { srq: srq.api }),
  });
  const qp = new QpRecord(world.nextId(), host, type, api, pd, sendCq, recvCq, srq, sqSigAll, blocksOwn);
  if (srq !== undefined) srq.lives += 1;
  host.qps.push(qp);
  return qp;
}

/** Attributes of the two ends of a connection; seldom such that they do not go together. */
interface End {
  readonly sqPsn: number;
  readonly mtu: 1 | 2 | 3 | 4 | 5;
}

export function someEnd(world: World, qp: Record, mtu: End['mtu']): End {
  const { random } = world;
  // Only once in a QP's time: packets of its former lives may be under way.
  const wraps = random.chance(0.3) && qp.lives === 0;
  qp.lives += 1;
  return { sqPsn: wraps ? 0xffffff - random.below(20) : random.below(2 ** 24), mtu };
}

function note({ life }: Record, attr: QpModifyAttr): void {
  Object.assign(life.attrs, attr);
  if (attr.ahAttr !== undefined) life.dgid = attr.ahAttr.grh?.dgid;
}

export function toInit(world: World, qp: Record, expected: readonly string[] = ['ok']): void {
  const { random } = world;
  const access = world.slips(0.15) ? random.u32() & QP_ACCESS : QP_ACCESS;
  const attr: QpModifyAttr =
    qp.type === QpType.UD
      ? { qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: QKEY }
      : { qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: access };
  world.attempt(`${qp.name} to INIT, access ${access}`, expected, () => qp.api.modify(attr));
  if (!world.done) return;
  note(qp, attr);
  if (qp.type === QpType.UD) qp.life.qkey = QKEY;
  else qp.life.accessFlags = access;
}

export function toRtr(
  world: World,
  qp: Record,
  peer: Record,
  own: End,
  theirs: End,
  expected: readonly string[] = ['ok'],
): void {
  const { random } = world;
  const { type, life } = qp;
  const maxDestRdAtomic = world.slips(0.05) ? random.below(3) : 16;
  const path = {
    pathMtu: own.mtu,
    destQpNum: peer.qpn,
    rqPsn: theirs.sqPsn,
    ahAttr: { grh: { dgid: peer.host.context.queryGid(1, 0) } },
  };
  const depth = { maxDestRdAtomic, minRnrTimer: random.pick([8, 14, 15, 16]) };
  const responds = type === QpType.RC || type === QpType.XRC_RECV;
  const attr: QpModifyAttr =
    type === QpType.UD ? { qpState: QpState.RTR } : { qpState: QpState.RTR, ...path, ...(responds ? depth : {}) };
  world.attempt(`${qp.name} to RTR, peer ${peer.name}`, expected, () => qp.api.modify(attr));
  if (!world.done) return;
  note(qp, attr);
  life.peerAddress = peer.host.address;
  life.destQpn = peer.qpn;
  life.rqPsn = theirs.sqPsn;
  life.mtuBytes = mtuBytes(own.mtu);
  life.maxDestRdAtomic = responds ? maxDestRdAtomic : 0;
}

export function toRts(world: World, qp: Record, own: End, expected: readonly string[] = ['ok']): void {
  const { random } = world;
  const { type, life } = qp;
  const maxRdAtomic = world.slips(0.03) ? 0 : random.pick([1, 1, 2, 4, 16]);
  const timeout = random.pick(TIMEOUTS);
  const rnrRetry = world.slips(0.4) ? random.pick([6, 2, 0]) : 7;
  const retryCnt = world.slips(0.4) ? random.pick([3, 1]) : 7;
  const sends = { timeout, retryCnt, rnrRetry, sqPsn: own.sqPsn, maxRdAtomic };
  let attr: QpModifyAttr = { qpState: QpState.RTS, sqPsn: own.sqPsn };
  if (type === QpType.RC || type === QpType.XRC_SEND) attr = { qpState: QpState.RTS, ...sends };
  else if (type === QpType.XRC_RECV) attr = { qpState: QpState.RTS, sqPsn: own.sqPsn, timeout };
  world.attempt(`${qp.name} to RTS`, expected, () => qp.api.modify(attr));
  if (!world.done) return;
  note(qp, attr);
  life.sqPsn = own.sqPsn;
  life.timeout = timeout;
  life.rnrRetry = rnrRetry;
  life.maxRdAtomic = maxRdAtomic;
}

/** Brings two QPs in RESET to where they are connected; now and then, to where they are not quite. */
export function connectPair(world: World, a: Record, b: Record): void {
  const { random } = world;
  const mtu = random.between(1, 5) as End['mtu']; // the five values of Mtu
  const ends = [someEnd(world, a, mtu), someEnd(world, b, mtu)] as const;
  const skew = world.slips(0.03);
  for (const [qp, peer, i] of [
    [a, b, 0],
    [b, a, 1],
  ] as const) {
    toInit(world, qp);
    const theirs = ends[1 - i];
    toRtr(world, qp, peer, ends[i], skew && i === 0 ? { ...theirs, sqPsn: (theirs.sqPsn + 1) & 0xffffff } : theirs);
  }
  toRts(world, a, ends[0]);
  if (!world.slips(0.1)) toRts(world, b, ends[1]);
}

/** Has the NIC do what it can do now, and reads all that completes: what a QP leaves behind nobody could make sense of later. */
export function settleNow(world: World, host: HostRecord): void {
  world.pass(0);
  world.drain(host);
}

/** A QP goes back to RESET; what it had outstanding is gone without a word. */
export function resetQp(world: World, qp: Record): void {
  settleNow(world, qp.host);
  world.attempt(`${qp.name} to RESET`, ['ok'], () => qp.api.modify({ qpState: QpState.RESET }));
  world.abandon(qp);
  qp.life = new Life();
  qp.seenState = QpState.RESET;
  if (qp.srq !== undefined) qp.srq.lives += 1;
  if (qp.type === QpType.XRC_RECV) for (const srq of qp.host.srqs) srq.lives += 1;
}
