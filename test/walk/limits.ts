import { QpType } from '../../src/index.js';
import { check } from '../sim/failure.js';
import { someHost } from './choices.js';
import { SENDS, targetOf } from './judge.js';
import type { HostRecord, QpRecord, SrqRecord } from './things.js';
import type { World } from './world.js';

/** Whether all that completed on a host has been read, so that what is posted is known but for what QPs have just taken. */
function isExact({ lazy, onlySolicited, cqs }: HostRecord): boolean {
  return !lazy && !onlySolicited && !cqs.some(({ dead }) => dead);
}

/** Holds limits of shared receive queues against what is left in them: the event comes once, when a request is taken and too few are left. */
export function checkLimits(world: World, host: HostRecord): void {
  for (const srq of host.srqs) {
    if (srq.limit > 0) checkArmed(world, srq);
    if (srq.reached === 0) continue;
    const { reached, recvs } = srq;
    srq.reached = 0;
    check(
      !isExact(host) || recvs.length - mayBeTaken(world, srq) < reached,
      () =>
        `${nameOfSrq(srq)} says that fewer than ${reached} requests are left of ${recvs.length}, of which some may be taken`,
    );
  }
}

/** Of the requests that did not complete, how many QPs may have taken: one each, to fill it, or for ever when they were reset meanwhile. */
function mayBeTaken({ live, hosts, troubled }: World, srq: SrqRecord): number {
  const fillers = new Set<QpRecord>();
  for (const request of live) {
    // What comes in one packet is complete as soon as it has taken one.
    if (!SENDS.has(request.opcode) || request.qp.type === QpType.UD) continue;
    if (request.lengthBytes <= request.life.mtuBytes && !request.wild) continue;
    const target = targetOf({ hosts, troubled }, request);
    if (target?.srq === srq) fillers.add(target.qp);
    // From a QP that has another peer by now.
    else if (target === undefined) return srq.lives;
  }
  return fillers.size + srq.lost;
}

function checkArmed(world: World, srq: SrqRecord): void {
  const { limit, recvs, host } = srq;
  const { srqLimit } = srq.api.query();
  check(srqLimit === limit || srqLimit === 0, () => `${nameOfSrq(srq)} has limit ${srqLimit}, not ${limit}`);
  if (srqLimit === 0) {
    world.events(host);
    check(srq.limit === 0, () => `the limit of ${nameOfSrq(srq)} was reached, and no event said so`);
    return;
  }
  if (!isExact(host)) return;
  if (recvs.length - mayBeTaken(world, srq) >= limit) srq.wasAbove = true;
  check(
    !srq.wasAbove || recvs.length >= limit,
    () => `${nameOfSrq(srq)} has no more than ${recvs.length} requests left, and its limit of ${limit} was not reached`,
  );
}

function nameOfSrq({ id, host }: SrqRecord): string {
  return `SRQ ${id} of ${host.address}`;
}

/** Arms the limit event of a shared receive queue, or gives it another size. */
export function changeSrq(world: World): void {
  const { random } = world;
  const host = someHost(world);
  const srq = host && world.pick(host.srqs);
  if (srq === undefined) return;
  world.look();
  if (random.chance(0.7)) {
    // As a rule one that the requests there reach soon.
    const limit = random.chance(0.8) ? Math.min(srq.recvs.length, random.between(1, 8)) : random.below(srq.maxWr + 2);
    world.attempt(`${nameOfSrq(srq)} gets limit ${limit}`, [limit > srq.maxWr ? 'EINVAL' : 'ok'], () =>
      srq.api.modify({ srqLimit: limit }),
    );
    if (!world.done) return;
    srq.limit = limit;
    srq.wasAbove = false;
    return;
  }
  const maxWr = random.pick([1, 4, 16, 32, 64]);
  // How many are posted nobody can tell who has not read all completions.
  const fits = maxWr >= srq.recvs.length && maxWr >= srq.limit;
  world.attempt(`${nameOfSrq(srq)} gets room for ${maxWr}`, fits ? ['ok'] : ['ok', 'EINVAL'], () =>
    srq.api.modify({ maxWr }),
  );
  if (!world.done) return;
  srq.maxWr = srq.api.maxWr;
  check(srq.maxWr >= maxWr, () => `${nameOfSrq(srq)} was to have room for ${maxWr} and has it for ${srq.maxWr}`);
}
