import { QpType } from '../../src/entry/index.js';
import { someHost, upHosts } from './choices.js';
import { makePd } from './makers.js';
import { postRecv, roomToReceive } from './receives.js';
import type { World } from './world.js';

/** Queues of all kinds: what is posted to receive, how they change, and how they end. */

export function receive(world: World): void {
  const { random } = world;
  const qps = upHosts(world).flatMap(({ qps: theirs }) =>
    theirs.filter(({ srq, type }) => {
      return srq === undefined && type !== QpType.XRC_SEND && type !== QpType.XRC_RECV;
    }),
  );
  const srqs = upHosts(world).flatMap((host) => host.srqs.filter(({ alive }) => alive));
  const to = random.chance(0.3) && srqs.length > 0 ? world.pick(srqs) : world.pick(qps);
  if (to === undefined) return;
  // Now and then one more than there is room for.
  const most = roomToReceive(to) + (random.chance(0.1) ? 1 : 0);
  for (let i = Math.min(random.between(1, 8), most); i > 0; i -= 1) postRecv(world, to);
}

export function destroySomething(world: World): void {
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

export function resizeCq(world: World): void {
  const host = someHost(world);
  const cq = host && world.pick(host.cqs.filter(({ dead }) => !dead));
  if (host === undefined || cq === undefined) return;
  const cqe = world.slips(0.3) ? world.random.pick([1, 8]) : world.random.pick([64, 256, 300]);
  // How many completions wait there nobody can tell who has not read them.
  world.look();
  world.drain(host);
  world.attempt(
    `${host.address} gives CQ ${cq.id} ${cqe} entries`,
    cq.dead ? ['ok', 'EINVAL', 'EIO'] : cq.onlySolicited ? ['ok', 'EINVAL'] : ['ok'],
    () => cq.api.resize(cqe),
  );
  if (world.done) cq.capacity = cq.api.cqe;
}
