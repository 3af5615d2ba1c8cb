import { gidFromIp, QpType } from '../../src/entry/index.js';
import { check } from '../sim/failure.js';
import { upHosts } from './choices.js';
import { isReceptive, type Surroundings } from './judge.js';
import { HEADER_BYTES } from './memory-watch.js';
import { describeRequest } from './statuses.js';
import type { HostRecord, Life, QpRecord, SendRecord } from './things.js';
import type { World } from './world.js';

/** Who hears datagrams (protocol/services.md 3.2, 3.5): of one to a group each QP that is attached one copy, the sender's too. */

export const GROUP_QPN = 0xffffff;
const GROUPS = 2;

export function someGroup(world: World): string {
  const number = world.random.between(1, GROUPS);
  return world.character.ipv6 ? `ff0e::${number}` : `239.0.0.${number}`;
}

/** Whether a QP may have heard a group at some time from a tick on. */
function mayHear({ memberships }: QpRecord, group: string, sinceTick: number): boolean {
  return memberships.some((membership) => membership.group === group && membership.untilTick >= sinceTick);
}

function hears(qp: QpRecord, group: string): boolean {
  return mayHear(qp, group, Infinity);
}

/** Whether a QP may be given a datagram, whenever it arrives. */
export function isFor(request: SendRecord, qp: QpRecord): boolean {
  const { ah, group, remoteQpn, remoteQkey, tick } = request;
  if (remoteQkey !== qp.life.qkey) return false;
  if (group === undefined) return remoteQpn === qp.qpn && ah?.to === qp.host.address;
  return mayHear(qp, group, tick) && !(qp.blocksOwn && request.qp === qp);
}

/** The QPs of a host that a datagram may arrive at now. */
export function receiversOf({ qps }: HostRecord, request: SendRecord): QpRecord[] {
  return qps.filter((qp) => qp.type === QpType.UD && isFor(request, qp));
}

/** Has some QP hear a group, or no longer. */
export function changeSomeMembership(world: World): void {
  const qp = world.pick(upHosts(world).flatMap((host) => host.qps.filter(({ type }) => type === QpType.UD)));
  if (qp !== undefined) changeMembership(world, qp);
}

export function changeMembership(world: World, qp: QpRecord): void {
  const { random } = world;
  const { poster } = qp;
  if (poster === undefined) return;
  const group = someGroup(world);
  const there = hears(qp, group);
  if (random.chance(there ? 0.2 : 0.9)) {
    world.attempt(`${qp.name} is attached to ${group}`, ['ok'], () => poster.attachMcast(gidFromIp(group)));
    // Twice counts once.
    if (!there) qp.memberships.push({ group, untilTick: Infinity });
  } else leave(world, qp, group, there ? 'ok' : 'EINVAL');
}

function leave(world: World, qp: QpRecord, group: string, expected: 'ok' | 'EINVAL'): void {
  world.attempt(`${qp.name} is detached from ${group}`, [expected], () => qp.poster?.detachMcast(gidFromIp(group)));
  for (const membership of qp.memberships) {
    if (membership.group === group) membership.untilTick = Math.min(membership.untilTick, world.tick);
  }
}

/** A QP that hears groups cannot be destroyed. */
export function leaveAll(world: World, qp: QpRecord): void {
  const groups = qp.memberships.filter(({ untilTick }) => untilTick === Infinity);
  if (groups.length === 0) return;
  world.attempt(`${qp.name} is destroyed, though it hears ${groups.length} groups`, ['EBUSY'], () => qp.api.destroy());
  for (const { group } of groups) leave(world, qp, group, 'ok');
}

interface Hope {
  readonly request: SendRecord;
  readonly qp: QpRecord;
  readonly life: Life;
}

/** Datagrams that must arrive, since nothing stands in their way. */
export class Hopes {
  #hopes: Hope[] = [];

  constructor(
    private readonly world: Surroundings & { readonly live: ReadonlySet<SendRecord>; readonly nowUs: number },
  ) {}

  /** Notes who must get a datagram that has just been posted. Those without immediate data may look like others. */
  add(request: SendRecord): void {
    const { world } = this;
    if (request.qp.type !== QpType.UD) return;
    const underWay = [...world.live].filter(({ qp }) => qp.type === QpType.UD);
    // Of two that send, who posts later may be heard first, and take what was there for the other.
    this.#hopes = this.#hopes.filter(
      (hope) =>
        hope.request.qp === request.qp ||
        !isFor(request, hope.qp) ||
        hope.qp.recvs.length >= underWay.filter((other) => isFor(other, hope.qp)).length,
    );
    if (world.troubled || request.immData === undefined) return;
    for (const host of world.hosts) {
      if (!host.up || host.paused || host.lazy || host.onlySolicited) continue;
      for (const qp of receiversOf(host, request)) {
        const fits = qp.recvs.every(
          ({ capacity, couldNot }) => capacity >= request.lengthBytes + HEADER_BYTES && !couldNot,
        );
        const others = underWay.filter((other) => isFor(other, qp)).length;
        if (qp.srq !== undefined || !fits || qp.recvs.length < others) continue;
        this.#hopes.push({ request, qp, life: qp.life });
      }
    }
  }

  /** To be called whenever something has happened. @param lifeUs how long packets may be under way */
  check(lifeUs: number): void {
    const { world } = this;
    if (this.#hopes.length === 0) return;
    this.#hopes = this.#hopes.filter((hope) => {
      const { request, qp } = hope;
      if (world.troubled || !this.#isStill(hope) || request.copies.has(qp)) return false;
      if (request.open || !request.acknowledged) return request.open;
      const { ghostUntilUs, group } = request;
      check(
        world.nowUs <= ghostUntilUs,
        () =>
          `${describeRequest(request)} was sent${group === undefined ? '' : ` to ${group}`}, but ${qp.name}, ` +
          `which has ${qp.recvs.length} receive requests, did not get it within ${lifeUs} us`,
      );
      return true;
    });
  }

  #isStill({ request: { group }, qp, life }: Hope): boolean {
    if (!qp.alive || qp.life !== life || qp.host.paused || !isReceptive(qp.seenState) || life.doomed) return false;
    // Where nothing can be complete nothing is received.
    if (qp.recvCq?.dead === true) return false;
    return (group === undefined || hears(qp, group)) && qp.recvs.every(({ couldNot }) => !couldNot);
  }
}
