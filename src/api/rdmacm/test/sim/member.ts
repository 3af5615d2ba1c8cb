import { CmEventType } from '../../../../device/ibta/index.js';
import { type Ah, type CmEvent, createId, McJoinFlag, PortSpace, type Qp } from '../../../../entry/index.js';
import { check } from '../../../../../test/sim/failure.js';
import { Actor } from './actor.js';
import type { Host } from './host.js';
import type { MemberPlan, StayPlan } from './member-plan.js';
import { type Destination, Traffic } from './traffic.js';
import type { World } from './world.js';

const RECEIVES = 24;

interface Membership {
  readonly stay: StayPlan;
  told: boolean;
}

/** When a queue pair was to get what is sent to a group. */
interface Interval {
  readonly group: number;
  readonly fromUs: number;
  untilUs: number;
}

export interface Heard {
  readonly sender: number;
  readonly sequence: number;
}

export class Member extends Actor {
  readonly role = 'member';
  #memberships: Membership[] = [];
  readonly intervals: Interval[] = [];
  readonly heard: Heard[] = [];
  readonly #destinations = new Map<number, Destination>();
  readonly #ahs: Ah[] = [];

  constructor(
    world: World,
    host: Host,
    override readonly plan: MemberPlan,
    number: number,
  ) {
    super(world, host, createId(host.channel, PortSpace.UDP), 'UDP', plan, number, 'idle');
  }

  begin(): void {
    const { id, host, plan, world } = this;
    if (plan.way === 'bind') {
      this.call('bindAddr', () => id.bindAddr({ host: host.address }));
      this.#arrive();
    } else {
      this.call('resolveAddr', () => id.resolveAddr({ host: world.groupAddress(plan.stays[0].group) }));
    }
  }

  override destroy(): void {
    super.destroy();
    for (const ah of this.#ahs) ah[Symbol.dispose]();
    this.#ahs.length = 0;
    this.#note();
  }

  /** Whether its queue pair is to get now what is sent to a group. */
  isIn(group: number): boolean {
    return this.qp !== undefined && this.#memberships.some(({ stay }) => stay.group === group && !stay.sendOnly);
  }

  protected override hears(cmEvent: CmEvent): boolean {
    const { event, multicastContext, param } = cmEvent;
    if (event !== CmEventType.MULTICAST_JOIN) return super.hears(cmEvent);
    const { ud } = param;
    const membership = this.#memberships.find(({ told }) => !told);
    check(
      membership !== undefined && multicastContext === membership.stay && ud !== undefined,
      () => `${this.toString()} is told of a group that it did not join`,
    );
    membership.told = true;
    if (this.state === 'destroyed' || !this.host.up) return true;
    const ah = this.host.pd.createAh(ud.ahAttr);
    this.#ahs.push(ah);
    this.#destinations.set(membership.stay.group, { ah, remoteQpn: ud.qpNum, remoteQkey: ud.qkey });
    return true;
  }

  protected react({ event }: CmEvent): void {
    if (event === CmEventType.ADDR_RESOLVED) this.#arrive();
  }

  protected override makeQp(): Qp {
    const { host, id, world, number } = this;
    const { qpInit } = host;
    const qp = id.createQp(host.pd, { ...qpInit, cap: { ...qpInit.cap, maxRecvWr: RECEIVES } });
    this.qp = qp;
    host.own(qp.qpNum, this);
    this.traffic = new Traffic(host.memory, qp, number, (sender, sequence) => {
      world.checkHearing(this, { sender, sequence });
      this.heard.push({ sender, sequence });
    });
    this.traffic.expect(RECEIVES);
    this.#note();
    return qp;
  }

  #arrive(): void {
    const { queuePairAtUs, stays, callsToAll } = this.plan;
    this.later(queuePairAtUs, () => this.makeQp());
    for (const stay of stays) {
      this.later(stay.fromUs, () => this.#join(stay));
      this.later(stay.untilUs, () => this.#leave(stay));
    }
    for (const { group, atUs } of callsToAll) this.later(atUs, () => this.#callToAll(group));
  }

  #join(stay: StayPlan): void {
    const { id, world } = this;
    const addr = { host: world.groupAddress(stay.group) };
    const joinFlags = stay.sendOnly ? McJoinFlag.SENDONLY_FULLMEMBER : McJoinFlag.FULLMEMBER;
    if (!this.call('joinMulticast', () => id.joinMulticastEx({ addr, joinFlags }, stay))) return;
    this.#memberships.push({ stay, told: false });
    this.#note();
  }

  /** Of several stays in a group the one that began last ends. */
  #leave({ group }: StayPlan): void {
    const { id, world } = this;
    const last = this.#memberships.findLast(({ stay }) => stay.group === group);
    const addr = { host: world.groupAddress(group) };
    const call = last === undefined ? 'leaveMulticast' : 'leaveGroup';
    if (!this.call(call, () => id.leaveMulticast(addr))) return;
    this.#memberships = this.#memberships.filter((one) => one !== last);
    this.#note();
  }

  #callToAll(group: number): void {
    const { traffic, qp, world, number } = this;
    const destination = this.#destinations.get(group);
    if (destination === undefined || traffic === undefined || qp === undefined) return;
    world.noteCall({ sender: number, sequence: traffic.sent, group, atUs: world.nowUs });
    traffic.send(traffic.sent + 1, destination);
  }

  /** Keeps account of when it was in which group. */
  #note(): void {
    const { nowUs } = this.world;
    const open = this.intervals.filter(({ untilUs }) => untilUs === Infinity);
    for (const interval of open) if (!this.isIn(interval.group)) interval.untilUs = nowUs;
    for (const { stay } of this.#memberships)
      if (this.isIn(stay.group) && !open.some(({ group }) => group === stay.group))
        this.intervals.push({ group: stay.group, fromUs: nowUs, untilUs: Infinity });
  }
}
