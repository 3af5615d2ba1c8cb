import { QpType } from '../../src/entry/index.js';
import { check } from '../sim/failure.js';
import { someHost } from './choices.js';
import { isReceptive, isReliable, SENDS, TAKES, targetOf } from './judge.js';
import type { HostRecord, SendRecord, SrqRecord } from './things.js';
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
function mayBeTaken(world: World, srq: SrqRecord): number {
  const fillers = new Set(srq.host.qps.filter((qp) => qp.srq === srq && qp.life.holds));
  for (const request of world.live) {
    if (!mayHold(world, request, srq)) continue;
    const target = targetOf(world, request);
    if (target?.srq === srq) fillers.add(target.qp);
    // From a QP that has another peer by now.
    else if (target === undefined) return srq.lives;
  }
  return fillers.size + srq.lost;
}

/** Whether a QP that a message comes to may have taken a request for it, and not completed that. */
function mayHold({ disordered }: World, request: SendRecord, { recvs }: SrqRecord): boolean {
  const { qp, opcode, lengthBytes, life, deliveries, wild } = request;
  if (!TAKES.has(opcode) || qp.type === QpType.UD) return false;
  if (qp.type === QpType.UC) {
    if (deliveries > 0 && !disordered) return false;
    // A message that is dropped, too long for its request or not entitled to what it names, leaves it to the next one of its
    // QP (protocol/services.md 3.1). Whether a key is good when a message arrives nobody knows who sent it long ago.
    if (!SENDS.has(opcode) || recvs.some(({ capacity }) => capacity < lengthBytes)) return true;
  }
  // What comes in one packet is complete as soon as it has taken one, and so is what may not do as it asks, in error.
  return SENDS.has(opcode) && (lengthBytes > life.mtuBytes || wild);
}

/** Notes who may have taken a request for a message of which nothing more will come. */
export function noteHolder(world: World, request: SendRecord): void {
  const target = targetOf(world, request);
  // In ERR it has given back what it had.
  if (target !== undefined && !isReceptive(target.qp.seenState)) return;
  // A message that was delivered or acknowledged has completed its request.
  if (target?.srq === undefined || request.deliveries > 0 || (isReliable(request.qp.type) && request.acknowledged))
    return;
  if (mayHold(world, request, target.srq)) target.qp.life.holds = true;
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
