import assert from 'node:assert/strict';
import type { CmDatagram } from '../../index.js';
import { type AhAttr, formatGid, type Gid, gidFromIp, nameOf } from '../../../ibta/index.js';
import { CmAttribute, type CmMessage, decodeCmMessage, encodeCmMessage } from '../../../wire/index.js';
import type { TestTimers } from './timers.js';

export interface Sent {
  readonly atUs: number;
  readonly from: string;
  readonly to: string;
  readonly address: AhAttr;
  readonly message: CmMessage;
}

export interface Attached {
  readonly name: string;
  readonly gid: Gid;
  /** Of whoever has any. */
  readonly timers?: TestTimers;
  receive(datagram: CmDatagram): void;
}

type Verdict = 'pass' | 'drop';

/** How long a datagram is under way. */
const DELAY_US = 10;
/** More than any exchange takes. */
const MAX_STEPS = 100_000;

/** A wire between connection managers, and the time that they live in: both stand still unless a test moves them. */
export class TestNetwork {
  nowUs = 0;
  /** Everything that was sent, in order, before {@link script} decides over it. */
  readonly log: Sent[] = [];
  /** By which way messages come. */
  way = 0;
  /** Decides over each message. */
  script: (sent: Sent) => Verdict = () => 'pass';
  readonly #attached = new Map<string, Attached>();
  #underWay: { readonly atUs: number; readonly to: Attached; readonly datagram: CmDatagram }[] = [];

  attach(cmDevice: Attached): void {
    this.#attached.set(formatGid(cmDevice.gid), cmDevice);
  }

  send(from: { readonly name: string; readonly gid: Gid }, address: AhAttr, mad: Uint8Array): void {
    const message = decodeCmMessage(mad);
    assert.ok(message, `${from.name} sends what is not a message`);
    assert.ok(address.grh, `${from.name} sends to nowhere`);
    const { dgid, trafficClass } = address.grh;
    const to = this.#attached.get(formatGid(dgid));
    const sent = { atUs: this.nowUs, from: from.name, to: to?.name ?? formatGid(dgid), address, message };
    this.log.push(sent);
    if (to === undefined || this.script(sent) === 'drop') return;
    const datagram = { mad: mad.slice(), source: from.gid, destination: dgid, trafficClass, way: this.way };
    this.#underWay.push({ atUs: this.nowUs + DELAY_US, to, datagram });
  }

  /** Lets everything arrive that is under way, and what that causes. */
  settle(): void {
    for (let steps = 0; this.#underWay.length > 0; steps += 1) {
      assert.ok(steps < MAX_STEPS, 'the two never come to rest');
      this.#advance(this.#underWay[0].atUs);
    }
  }

  pass(us: number): void {
    const untilUs = this.nowUs + us;
    for (let steps = 0; ; steps += 1) {
      assert.ok(steps < MAX_STEPS, 'the two never come to rest');
      const nextUs = this.#nextUs();
      if (nextUs > untilUs) break;
      this.#advance(nextUs);
    }
    this.nowUs = untilUs;
  }

  /** Lets time pass until no timer runs. */
  passAll(): void {
    for (let steps = 0; this.#nextUs() < Infinity; steps += 1) {
      assert.ok(steps < MAX_STEPS, 'the two never come to rest');
      this.#advance(this.#nextUs());
    }
  }

  /** What was sent since the log had `from` entries, as `a REQ, b REP`. */
  story(from = 0): string {
    return this.log
      .slice(from)
      .map(({ from: name, message }) => `${name} ${nameOf(CmAttribute, message.attribute)}`)
      .join(', ');
  }

  #nextUs(): number {
    const timers = [...this.#attached.values()].map((one) => one.timers?.nextUs ?? Infinity);
    return Math.min(this.#underWay[0]?.atUs ?? Infinity, ...timers);
  }

  #advance(toUs: number): void {
    this.nowUs = Math.max(this.nowUs, toUs);
    const due = this.#underWay.filter(({ atUs }) => atUs <= this.nowUs);
    this.#underWay = this.#underWay.filter(({ atUs }) => atUs > this.nowUs);
    for (const { to, datagram } of due) to.receive(datagram);
    for (const { timers } of this.#attached.values()) timers?.expire(this.nowUs);
  }
}

/** A peer whose messages the test itself writes and reads. */
export class RawPeer implements Attached {
  readonly gid: Gid;
  readonly inbox: CmMessage[] = [];

  constructor(
    network: TestNetwork,
    address: string,
    readonly name = 'raw peer',
  ) {
    this.gid = gidFromIp(address);
    network.attach(this);
  }

  receive({ mad }: CmDatagram): void {
    const message = decodeCmMessage(mad);
    assert.ok(message);
    this.inbox.push(message);
  }

  /** Says something; it is there at once. */
  say(to: Attached, message: CmMessage): void {
    const mad = encodeCmMessage(message);
    to.receive({ mad, source: this.gid, destination: to.gid, trafficClass: 0 });
  }

  /** The newest message of a kind that was said to it. */
  heard<A extends CmAttribute>(attribute: A): Extract<CmMessage, { readonly attribute: A }> {
    const isIt = (message: CmMessage): message is Extract<CmMessage, { readonly attribute: A }> =>
      message.attribute === attribute;
    const found = this.inbox.filter(isIt).at(-1);
    assert.ok(found, `no ${nameOf(CmAttribute, attribute)} came to ${this.name}`);
    return found;
  }
}
