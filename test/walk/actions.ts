import { type LinkConditions, nameOf, QpState, QpType } from '../../src/index.js';
import { illegalCall } from './illegal.js';
import {
  connectPair,
  makeCq,
  makeHost,
  makePd,
  makeQp,
  makeRegion,
  makeSrq,
  makeWindow,
  resetQp,
  someAccess,
  someEnd,
  somePd,
  someRange,
  toInit,
  toRtr,
  toRts,
} from './makers.js';
import { isReliable } from './judge.js';
import { peerOf, postOne, postRecv } from './post.js';
import type { HostRecord, QpRecord, RegionRecord } from './things.js';
import type { World } from './world.js';

/** Something that a walk does now and then. */
export interface Action {
  readonly kind: string;
  readonly weight: number;
  /** Whether it makes the network, or a host, worse than they should be. */
  readonly fault?: boolean;
  readonly run: (world: World) => void;
}

const { RESET, INIT, RTR, RTS, SQD, SQE, ERR } = QpState;

function upHosts(world: World): HostRecord[] {
  return world.hosts.filter(({ up, paused }) => up && !paused);
}

function someHost(world: World): HostRecord | undefined {
  return world.pick(upHosts(world));
}

function someQp(world: World): QpRecord | undefined {
  return world.pick(upHosts(world).flatMap(({ qps }) => qps));
}

/** Where the next host goes. */
function freeAddress(world: World): string {
  return `10.0.${world.step.id >> 8}.${world.step.id & 255}`;
}

function connect(world: World): void {
  const { random } = world;
  const a = someHost(world);
  const others = upHosts(world).filter((host) => host !== a);
  const b = random.chance(0.04) ? a : world.pick(others);
  if (a === undefined || b === undefined) return;
  const type = random.pick([QpType.RC, QpType.RC, QpType.RC, QpType.RC, QpType.UC, QpType.UD, QpType.XRC_SEND]);
  if (type === QpType.XRC_SEND && !b.srqs.some(({ xrcCq }) => xrcCq !== undefined)) makeSrq(world, b, true);
  for (const host of [a, b])
    if (host.regions.length < 4) makeRegion(world, host, somePd(world, host), someAccess(world));
  const first = makeQp(world, a, type);
  const second = makeQp(world, b, type === QpType.XRC_SEND ? QpType.XRC_RECV : type);
  connectPair(world, first, second);
  for (const qp of [first, second]) {
    const to = qp.srq ?? (qp.type === QpType.XRC_RECV ? world.pick(qp.host.srqs) : qp);
    for (let i = random.below(9); i > 0 && to !== undefined && qp.type !== QpType.XRC_SEND; i -= 1) postRecv(world, to);
  }
}

function post(world: World): void {
  const { random } = world;
  const ready = upHosts(world).flatMap(({ qps }) => qps.filter(({ seenState }) => seenState === RTS));
  // Of those that die of a mistake there would be too few otherwise.
  const reliable = ready.filter(({ type }) => isReliable(type));
  const qp = (random.chance(0.8) ? world.pick(reliable) : undefined) ?? world.pick(ready);
  if (qp === undefined) return;
  const count = random.chance(0.5) ? random.between(2, 8) : 1;
  for (let i = 0; i < count; i += 1) postOne(world, qp);
}

function postAnywhere(world: World): void {
  const qp = someQp(world);
  if (qp !== undefined) postOne(world, qp);
}

function receive(world: World): void {
  const { random } = world;
  const qps = upHosts(world).flatMap(({ qps: theirs }) =>
    theirs.filter(({ srq, type }) => {
      return srq === undefined && type !== QpType.XRC_SEND && type !== QpType.XRC_RECV;
    }),
  );
  const srqs = upHosts(world).flatMap((host) => host.srqs.filter(({ alive }) => alive));
  const to = random.chance(0.3) && srqs.length > 0 ? world.pick(srqs) : world.pick(qps);
  if (to === undefined) return;
  for (let i = random.between(1, 8); i > 0; i -= 1) postRecv(world, to);
}

/** The program changes memory of its own. */
function scribble(world: World): void {
  const { random } = world;
  const host = someHost(world);
  if (host === undefined) return;
  const { at, lengthBytes } = someRange(world);
  const bytes = new Uint8Array(lengthBytes);
  const words = new DataView(bytes.buffer);
  for (let i = 0; i + 4 <= lengthBytes; i += 4) words.setUint32(i, random.u32());
  host.arena.write(at, bytes, world.tick);
  world.claims.add({ arena: host.arena, at, lengthBytes }, { tick: world.tick, closedTick: world.tick });
}

function someRegion(world: World): RegionRecord | undefined {
  return world.pick(upHosts(world).flatMap(({ regions }) => regions.filter(({ alive }) => alive)));
}

/** What a region that windows may be bound to makes of a call that needs it free. */
function whetherBound(record: RegionRecord): readonly string[] {
  const { host } = record;
  let maybe = false;
  for (const window of host.windows) {
    if (!window.alive) continue;
    const certain = window.pending.size === 0 && !window.unsure;
    if (certain && window.binding?.region === record) return ['EBUSY'];
    const candidates = [...window.possible, ...(window.binding === undefined ? [] : [window.binding])];
    if (!certain && candidates.some((binding) => binding.region === record)) maybe = true;
  }
  return maybe ? ['ok', 'EBUSY'] : ['ok'];
}

function rereg(world: World): void {
  const region = someRegion(world);
  if (region === undefined) return;
  const { random } = world;
  const { host } = region;
  const expected = whetherBound(region);
  const range = random.chance(0.5) ? someRange(world) : undefined;
  const access = random.chance(0.5) || range === undefined ? someAccess(world) & ~32 : undefined;
  const pd = random.chance(0.2) ? somePd(world, host) : undefined;
  if ((region.access & 32) !== 0) return;
  const memory = range && host.arena.bytes.subarray(range.at, range.at + range.lengthBytes);
  world.attempt(`${host.address} changes region 0x${region.api.rkey.toString(16)}`, expected, () =>
    region.api.rereg({
      ...(memory === undefined ? {} : { memory }),
      ...(access === undefined ? {} : { access }),
      ...(pd === undefined ? {} : { pd: pd.api }),
    }),
  );
  if (!world.done) return;
  unbindFrom(region);
  region.iova = region.api.iova;
  if (range !== undefined) Object.assign(region, range);
  if (access !== undefined) region.access = access;
  if (pd !== undefined) region.pd = pd;
  region.closed = false;
  region.unsure = false;
  region.epoch += 1;
}

/** No window can have been bound to it, since it could be changed. */
function unbindFrom(region: RegionRecord): void {
  for (const window of region.host.windows) {
    if (window.binding?.region === region) window.binding = undefined;
    const awaited = [...window.pending].map(({ binds }) => binds?.binding);
    for (const binding of window.possible) {
      if (binding.region === region && !awaited.includes(binding)) window.possible.delete(binding);
    }
  }
}

function dereg(world: World): void {
  const region = someRegion(world);
  if (region === undefined) return;
  const what = `${region.host.address} deregisters region 0x${region.api.rkey.toString(16)}`;
  world.attempt(what, whetherBound(region), () => region.api.dereg());
  if (!world.done) return;
  unbindFrom(region);
  region.alive = false;
}

function deallocWindow(world: World): void {
  const window = world.pick(upHosts(world).flatMap(({ windows }) => windows.filter(({ alive }) => alive)));
  if (window === undefined) return;
  world.attempt(`${window.host.address} ends window 0x${window.api.rkey.toString(16)}`, ['ok'], () =>
    window.api.dealloc(),
  );
  window.alive = false;
}

export function destroyQp(world: World, qp: QpRecord): void {
  const { host } = qp;
  world.look();
  world.drain(host);
  world.attempt(`${qp.name} is destroyed`, ['ok'], () => qp.api.destroy());
  world.abandon(qp);
  qp.alive = false;
  host.qps.splice(host.qps.indexOf(qp), 1);
  for (const window of host.windows) {
    if (window.binding?.qp === qp && window.type === 2) window.binding = undefined;
    for (const binding of window.possible) if (binding.qp === qp && window.type === 2) window.possible.delete(binding);
  }
}

function destroySomething(world: World): void {
  const { random } = world;
  const host = someHost(world);
  if (host === undefined) return;
  const kind = random.pick(['cq', 'pd', 'srq', 'ah'] as const);
  if (kind === 'cq') {
    const cq = world.pick(host.cqs);
    if (cq === undefined) return;
    const used =
      host.qps.some(({ sendCq, recvCq }) => sendCq === cq || recvCq === cq) ||
      host.srqs.some(({ xrcCq }) => xrcCq === cq);
    world.look();
    world.drain(host);
    world.attempt(`${host.address} destroys CQ ${cq.id}`, [used ? 'EBUSY' : 'ok'], () => cq.api.destroy());
    if (world.done) host.cqs.splice(host.cqs.indexOf(cq), 1);
  } else if (kind === 'pd') {
    const pd = world.pick(host.pds);
    if (pd === undefined) return;
    const things = [...host.regions, ...host.windows, ...host.qps, ...host.srqs, ...host.ahs];
    const used = things.some((thing) => thing.pd === pd && thing.alive);
    world.attempt(`${host.address} ends PD ${pd.id}`, [used ? 'EBUSY' : 'ok'], () => pd.api.dealloc());
    if (world.done) host.pds.splice(host.pds.indexOf(pd), 1);
    if (host.pds.length === 0) makePd(world, host);
  } else if (kind === 'srq') {
    const srq = world.pick(host.srqs);
    if (srq === undefined) return;
    const used = host.qps.some((qp) => qp.srq === srq);
    world.look();
    world.drain(host);
    world.attempt(`${host.address} destroys SRQ ${srq.id}`, [used ? 'EBUSY' : 'ok'], () => srq.api.destroy());
    if (!world.done) return;
    srq.alive = false;
    host.srqs.splice(host.srqs.indexOf(srq), 1);
    for (const recv of srq.recvs) world.giveUp(recv);
  } else {
    const ah = world.pick(host.ahs.filter(({ alive }) => alive));
    if (ah === undefined) return;
    world.attempt(`${host.address} destroys AH ${ah.id}`, ['ok'], () => ah.api.destroy());
    ah.alive = false;
  }
}

function resizeCq(world: World): void {
  const host = someHost(world);
  const cq = host && world.pick(host.cqs.filter(({ dead }) => !dead));
  if (host === undefined || cq === undefined) return;
  const cqe = world.random.pick([1, 8, 64, 256, 300]);
  // How many completions wait there nobody can tell who has not read them.
  world.look();
  world.drain(host);
  world.attempt(`${host.address} gives CQ ${cq.id} ${cqe} entries`, cq.dead ? ['ok', 'EINVAL', 'EIO'] : ['ok'], () =>
    cq.api.resize(cqe),
  );
  if (world.done) cq.capacity = cq.api.cqe;
}

/** Any state, from any state: what the table of PROTOCOL.md 3.10 allows must succeed, all else be refused. */
function modify(world: World): void {
  const { random } = world;
  const qp = someQp(world);
  if (qp === undefined) return;
  world.look();
  const from = qp.api.state;
  const to = random.pick([RESET, INIT, RTR, RTS, SQD, SQD, SQE, ERR, ERR]);
  if (to === RESET) {
    resetQp(world, qp);
    return;
  }
  if (to === ERR) {
    qp.life.doomed = from !== RESET;
    world.attempt(`${qp.name} to ERR`, [from === RESET ? 'EINVAL' : 'ok'], () => qp.api.modify({ qpState: ERR }));
    return;
  }
  const peers = upHosts(world).flatMap(({ qps }) => qps.filter(({ type }) => type === mateType(qp.type)));
  const peer = peerOf(world, qp) ?? world.pick(peers);
  if (to === INIT) toInit(world, qp, [from === RESET || from === INIT ? 'ok' : 'EINVAL']);
  else if (to === RTR) {
    if (peer === undefined) return;
    const own = { ...someEnd(world, qp, 3), mtu: 3 } as const;
    const theirs = { sqPsn: peer.life.sqPsn < 0 ? random.below(2 ** 24) : peer.life.sqPsn, mtu: 3 } as const;
    toRtr(world, qp, peer, own, theirs, [from === INIT ? 'ok' : 'EINVAL']);
  } else if (to === RTS && from === RTR) toRts(world, qp, someEnd(world, qp, 3));
  else {
    const plain = to === RTS ? [RTS, SQD, ...(isUnreliable(qp) ? [SQE] : [])] : to === SQD ? [RTS, SQD] : [];
    const fits = plain.some((state) => state === from);
    const expected = !fits ? ['EINVAL'] : from === SQD && to === RTS ? ['ok', 'EINVAL'] : ['ok'];
    world.attempt(`${qp.name} from ${nameOf(QpState, from)} to ${nameOf(QpState, to)}`, expected, () =>
      qp.api.modify({ qpState: to }),
    );
  }
}

function isUnreliable({ type }: QpRecord): boolean {
  return type === QpType.UC || type === QpType.UD;
}

function mateType(type: QpType): QpType {
  if (type === QpType.XRC_SEND) return QpType.XRC_RECV;
  return type === QpType.XRC_RECV ? QpType.XRC_SEND : type;
}

/** Both ends of a connection begin anew. */
function reconnect(world: World): void {
  const all = upHosts(world).flatMap(({ qps }) => qps.filter(({ type }) => type !== QpType.XRC_RECV));
  const dead = all.filter((candidate) => candidate.seenState === ERR && peerOf(world, candidate) !== undefined);
  const qp = (world.random.chance(0.85) ? world.pick(dead) : undefined) ?? world.pick(all);
  const peer = qp && peerOf(world, qp);
  if (qp === undefined || peer === undefined || peer === qp || peer.type !== mateType(qp.type)) return;
  resetQp(world, qp);
  resetQp(world, peer);
  connectPair(world, qp, peer);
}

function weather(world: World): void {
  const { random, cluster } = world;
  const some = (most: number): number => (random.chance(0.6) ? random.fraction() * most : 0);
  const conditions: Partial<LinkConditions> = {
    delayUs: random.pick([1, 5, 20, 100, 400]),
    jitterUs: some(100),
    loss: some(0.2),
    lossBurstPackets: random.chance(0.3) ? random.between(2, 8) : 0,
    duplication: some(0.2),
    reordering: some(0.2),
    corruption: some(0.1),
    reorderDelayUs: random.pick([5, 50, 200]),
    mtuBytes: random.chance(0.1) ? random.pick([400, 1200]) : 65535,
    bandwidthBytesPerUs: random.chance(0.2) ? random.between(100, 2000) : Infinity,
    queueLimitBytes: random.between(20_000, 200_000),
  };
  const here = random.chance(0.5) ? [world.pick(upHosts(world)), world.pick(upHosts(world))] : [];
  const [from, to] = here;
  if (from !== undefined && to !== undefined) cluster.network.setDirection(from.address, to.address, conditions);
  else cluster.network.setConditions(conditions);
  world.weather({ lossy: true, disordering: true });
}

function calm(world: World): void {
  world.calm();
}

/** No packet passes from one host to another; the way back may be open. */
function partition(world: World): void {
  const { random, cluster } = world;
  const from = someHost(world);
  const to = world.pick(upHosts(world).filter((host) => host !== from));
  if (from === undefined || to === undefined) return;
  cluster.network.setDirection(from.address, to.address, { partitioned: true });
  if (random.chance(0.5)) cluster.network.setDirection(to.address, from.address, { partitioned: true });
  world.setTrouble('partition', true);
}

function heal(world: World): void {
  world.cluster.network.heal();
  world.setTrouble('partition', false);
}

/** A host is gone from one moment to the next, with all it had; it may come back under the same address. */
function crash(world: World): void {
  const host = someHost(world);
  if (host === undefined || upHosts(world).length < 2) return;
  world.trace?.(`  ${world.nowUs.toFixed(1)} us: ${host.address} crashes`);
  world.crash(host);
  if (world.random.chance(0.5)) makeHost(world, host.address);
}

function revive(world: World): void {
  const gone = world.hosts.filter(
    ({ up, address }) => !up && !world.hosts.some((other) => other.up && other.address === address),
  );
  const host = world.pick(gone);
  if (host !== undefined) makeHost(world, host.address);
}

/** A host stands still, as after SIGSTOP. */
function pause(world: World): void {
  const host = someHost(world);
  if (host === undefined || upHosts(world).length < 2) return;
  world.trace?.(`  ${world.nowUs.toFixed(1)} us: ${host.address} stands still`);
  world.pause(host, true);
}

function resume(world: World): void {
  const host = world.pick(world.hosts.filter(({ up, paused }) => up && paused));
  if (host !== undefined) world.pause(host, false);
}

function onHost(make: (world: World, host: HostRecord) => unknown): (world: World) => void {
  return (world) => {
    const host = someHost(world);
    if (host !== undefined) make(world, host);
  };
}

export const actions: readonly Action[] = [
  { kind: 'host', weight: 0.1, run: (world) => void makeHost(world, freeAddress(world)) },
  { kind: 'connect', weight: 3, run: connect },
  { kind: 'post', weight: 30, run: post },
  { kind: 'post anywhere', weight: 2, run: postAnywhere },
  { kind: 'receive', weight: 15, run: receive },
  { kind: 'scribble', weight: 5, run: scribble },
  {
    kind: 'register',
    weight: 3,
    run: onHost((world, host) => makeRegion(world, host, somePd(world, host), someAccess(world))),
  },
  { kind: 'rereg', weight: 1.5, run: rereg },
  { kind: 'dereg', weight: 1.5, run: dereg },
  { kind: 'window', weight: 2.5, run: onHost(makeWindow) },
  { kind: 'dealloc window', weight: 0.7, run: deallocWindow },
  { kind: 'modify', weight: 2.5, run: modify },
  { kind: 'reconnect', weight: 5, run: reconnect },
  {
    kind: 'destroy QP',
    weight: 1,
    run: (world) => {
      const qp = someQp(world);
      if (qp !== undefined) destroyQp(world, qp);
    },
  },
  { kind: 'destroy', weight: 1.5, run: destroySomething },
  { kind: 'cq', weight: 0.5, run: onHost(makeCq) },
  { kind: 'resize CQ', weight: 1, run: resizeCq },
  { kind: 'srq', weight: 0.5, run: onHost((world, host) => makeSrq(world, host, world.random.chance(0.5))) },
  { kind: 'illegal', weight: 3, run: illegalCall },
  { kind: 'poll', weight: 4, run: onHost((world, host) => world.drain(host)) },
  { kind: 'wait', weight: 5, run: (world) => world.pass(world.random.pick([5, 50, 500, 2000, 20_000])) },
  { kind: 'weather', weight: 2, fault: true, run: weather },
  { kind: 'calm', weight: 1.5, fault: true, run: calm },
  { kind: 'partition', weight: 1, fault: true, run: partition },
  { kind: 'heal', weight: 1.5, fault: true, run: heal },
  { kind: 'crash', weight: 0.5, fault: true, run: crash },
  { kind: 'pause', weight: 0.7, fault: true, run: pause },
  { kind: 'resume', weight: 1.5, fault: true, run: resume },
  { kind: 'revive', weight: 0.7, fault: true, run: revive },
];

const byKind = new Map(actions.map((action) => [action.kind, action]));

export function actionOf(kind: string): Action | undefined {
  return byKind.get(kind);
}
