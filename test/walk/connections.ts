import { nameOf, QpState, QpType } from '../../src/entry/index.js';
import { changeMembership, leaveAll } from './datagrams.js';
import { peerOf, someHost, someQp, upHosts } from './choices.js';
import {
  connectPair,
  makeQp,
  makeRegion,
  makeSrq,
  resetQp,
  settleNow,
  someAccess,
  someEnd,
  somePd,
  toInit,
  toRtr,
  toRts,
} from './makers.js';
import { postRecv, roomToReceive } from './receives.js';
import type { QpRecord, SrqRecord } from './things.js';
import type { World } from './world.js';

/** Queue pairs: how they are connected, changed, mended and ended. */

const { RESET, INIT, RTR, RTS, SQD, SQE, ERR } = QpState;

export function connect(world: World): void {
  const { random } = world;
  const a = someHost(world);
  const others = upHosts(world).filter((host) => host !== a);
  const b = random.chance(0.04) ? a : world.pick(others);
  if (a === undefined || b === undefined) return;
  const datagrams = world.character.datagrams && random.chance(0.7);
  const usual = [QpType.RC, QpType.RC, QpType.RC, QpType.RC, QpType.UC, QpType.UD, QpType.XRC_SEND] as const;
  const type = datagrams ? QpType.UD : random.pick(usual);
  if (type === QpType.XRC_SEND && !b.srqs.some(({ xrcCq }) => xrcCq !== undefined)) makeSrq(world, b, true);
  for (const host of [a, b])
    if (host.regions.filter(({ alive }) => alive).length < 4)
      makeRegion(world, host, somePd(world, host), someAccess(world));
  const first = makeQp(world, a, type);
  const second = makeQp(world, b, type === QpType.XRC_SEND ? QpType.XRC_RECV : type);
  connectPair(world, first, second);
  for (const qp of [first, second]) {
    const to = qp.srq ?? (qp.type === QpType.XRC_RECV ? world.pick(qp.host.srqs) : qp);
    if (to !== undefined) postSome(world, to, 8);
    if (datagrams) changeMembership(world, qp);
  }
}

export function destroyQp(world: World, qp: QpRecord): void {
  const { host } = qp;
  settleNow(world, host);
  leaveAll(world, qp);
  world.attempt(`${qp.name} is destroyed`, ['ok'], () => qp.api.destroy());
  world.abandon(qp);
  qp.alive = false;
  host.qps.splice(host.qps.indexOf(qp), 1);
  for (const window of host.windows) {
    if (window.binding?.qp === qp && window.type === 2) window.binding = undefined;
    for (const binding of window.possible) if (binding.qp === qp && window.type === 2) window.possible.delete(binding);
  }
}

/** Any state, from any state: what the table of protocol/services.md 3.10 allows must succeed, all else be refused. */
export function modify(world: World): void {
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

/** Both ends of connections begin anew: of those that failed; seldom, and where programs are restless, of one that works. */
export function reconnect(world: World): void {
  const { random, character } = world;
  const all = upHosts(world).flatMap(({ qps }) => qps.filter(({ type }) => type !== QpType.XRC_RECV));
  for (let left = random.between(1, character.mends); left > 0; left -= 1) {
    const alive = all.filter((candidate) => candidate.alive);
    const broken = alive.filter(isBroken);
    const qp = world.pick(broken) ?? (random.chance(character.upheaval * 0.15) ? world.pick(alive) : undefined);
    if (qp === undefined) return;
    mend(world, qp);
  }
}

function isBroken({ seenState }: QpRecord): boolean {
  return seenState !== RTS && seenState !== RTR;
}

function mend(world: World, qp: QpRecord): void {
  const peer = peerOf(world, qp);
  if (qp.seenState === SQD || qp.seenState === SQE) {
    const expected = qp.seenState === SQD ? ['ok', 'EINVAL'] : ['ok'];
    world.attempt(`${qp.name} goes on`, expected, () => qp.api.modify({ qpState: RTS }));
    return;
  }
  // Whoever it was connected to is gone.
  if (peer === undefined || peer === qp || peer.type !== mateType(qp.type)) {
    if (world.random.chance(0.7)) destroyQp(world, qp);
    return;
  }
  if (peer.host.paused) return;
  resetQp(world, qp);
  resetQp(world, peer);
  connectPair(world, qp, peer);
  for (const end of [qp, peer]) if (end.srq === undefined) postSome(world, end, 4);
}

function postSome(world: World, to: QpRecord | SrqRecord, most: number): void {
  for (let i = Math.min(world.random.below(most + 1), roomToReceive(to)); i > 0; i -= 1) postRecv(world, to);
}
