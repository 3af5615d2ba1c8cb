import { CmEventType } from '../../../../device/ibta/index.js';
import { type CmEvent, type CmId, type ErrnoName, type Qp, QpState, QpType } from '../../../../entry/index.js';
import { refusalOf } from '../../../../../test/support/refusal.js';
import { check } from '../../../../../test/sim/failure.js';
import {
  afterCall,
  afterEvent,
  connectionRules,
  eventNames,
  type IdCall,
  type IdRules,
  type IdState,
  refusalIn,
  resolutionRules,
} from './automaton.js';
import type { Host } from './host.js';
import type { SidePlan, Space, StrayPlan } from './plan.js';
import type { Stray } from './stray.js';
import { choiceOf, strayFor } from './strays.js';
import { Traffic } from './traffic.js';
import type { World } from './world.js';

/** What the rules do not say of a call. */
interface CallFacts {
  readonly name?: string;
  readonly wrong?: ErrnoName | undefined;
}

/** The part of a program that has one identifier, and the model of that identifier. */
export abstract class Actor {
  abstract readonly role: 'client' | 'server' | 'lone' | 'member';
  state: IdState;
  /** It could send; of a client of its own queue pair, it had said so. */
  wasUp = false;
  /** The peer's queue pair, as the newest event told it. */
  peerQpn = 0;
  qp: Qp | undefined;
  traffic: Traffic | undefined;
  readonly history: string[] = [];
  /** The port that it asked for, 0 for any, and whether others may have it as well. */
  port = 0;
  reuseAddr = false;
  /** It said itself that the peer is ready. */
  notified = false;
  /** What it has told itself by events that it raised, and has not heard. */
  readonly notes: number[] = [];
  /** Events and calls so far. */
  #steps = 0;
  #events = 0;
  readonly #rules: IdRules;

  constructor(
    readonly world: World,
    readonly host: Host,
    readonly id: CmId,
    readonly space: Space,
    readonly plan: SidePlan,
    readonly number: number,
    state: IdState,
  ) {
    this.state = state;
    this.#rules = space === 'UDP' ? resolutionRules : connectionRules;
    host.actors.set(id, this);
    this.later(plan.destroyAfterUs, () => this.destroy());
    this.#planStrays();
  }

  toString(): string {
    return `${this.role} ${this.number} at ${this.host.address} (${this.space}, ${this.state}; ${this.history.join(', ')})`;
  }

  get lives(): boolean {
    return this.host.up && this.state !== 'destroyed';
  }

  /** Notes an event. @returns what the program does about it */
  take(event: CmEvent): (() => void) | undefined {
    const { event: type, status } = event;
    const name = eventNames[type];
    this.world.trace(() => `${this.toString()} hears ${name} ${status}`);
    this.#step();
    if (type === CmEventType.DEVICE_REMOVAL) {
      this.#lose();
      return undefined;
    }
    if (this.hears(event)) return undefined;
    try {
      this.state = afterEvent(this.#rules, this.state, type, status);
    } catch (error) {
      throw new Error(this.toString(), { cause: error });
    }
    this.history.push(status === 0 ? name : `${name} ${status}`);
    const { conn, ud } = event.param;
    const told = conn?.qpNum ?? ud?.qpNum ?? 0;
    // Where nothing is said of it, the number is 0.
    if (told !== 0) this.peerQpn = told;
    return () => {
      if (this.state !== 'destroyed') this.react(event);
    };
  }

  /** Whether its next event is one to acknowledge late. */
  acknowledgesLate(): boolean {
    this.#events += 1;
    return this.#events - 1 === this.plan.lateAck;
  }

  /** What a call is to be refused with; `wrong` is what is wrong about the call itself. */
  refusal(call: IdCall, wrong?: ErrnoName): ErrnoName | undefined {
    return refusalIn(this.#rules, this.state, call, wrong);
  }

  /** Ends the identifier and its queue pair, in whatever state. */
  destroy(): void {
    if (this.state === 'destroyed') return;
    this.#step();
    this.notes.length = 0;
    this.world.trace(() => `${this.toString()} is destroyed`);
    this.state = 'destroyed';
    this.host.actors.delete(this.id);
    if (this.plan.queuePairFirst) this.endQp();
    this.id.destroy();
    this.endQp();
  }

  /** @returns whether an event is an affair of the actor's own, of which the rules say nothing */
  protected hears(event: CmEvent): boolean {
    if (event.event !== CmEventType.USER) return false;
    const { status, param } = event;
    const note = this.notes.shift();
    check(
      note === status && param.arg === BigInt(status),
      () => `${this.toString()} hears ${status} from itself, not ${note ?? 'nothing'}`,
    );
    return true;
  }

  /** Does what an event asks for. */
  protected abstract react(event: CmEvent): void;

  /** Does something after a while, if the program and the identifier are there then. */
  protected later(afterUs: number, action: () => void): void {
    if (afterUs === Infinity) return;
    if (afterUs === 0) {
      action();
      return;
    }
    this.world.after(afterUs, () => {
      // As a program that looks first what has happened since.
      this.host.takeEvents();
      if (this.lives) action();
    });
  }

  /** Calls, and checks that the call is refused as it must be, and only then. @returns whether it was not */
  protected call(call: IdCall, action: () => void, { name = call, wrong }: CallFacts = {}): boolean {
    const expected = this.refusal(call, wrong);
    const problem = refusalOf(action);
    this.world.trace(() => `${this.toString()} calls ${name}${problem === undefined ? '' : `, ${problem.errno}`}`);
    check(
      problem?.errno === expected,
      () => `${name} by ${this.toString()}, ${expected ?? 'which is right'}: ${problem?.message ?? 'not refused'}`,
    );
    if (expected === undefined) this.state = afterCall(this.#rules, this.state, call);
    this.#step();
    return expected === undefined;
  }

  /** Makes the queue pair, with all the receive requests that it will need. */
  protected makeQp(): Qp {
    const { host, plan, id } = this;
    const external = plan.external && this.space === 'TCP';
    const qp = external ? host.makeQp() : id.createQp(host.pd, host.qpInit);
    if (external) qp.modify(id.initQpAttr(QpState.INIT));
    this.qp = qp;
    host.own(qp.qpNum, this);
    this.traffic = new Traffic(host.memory, qp, this.number);
    this.traffic.expect();
    return qp;
  }

  protected endQp(): void {
    const { qp, host } = this;
    if (qp === undefined) return;
    this.qp = undefined;
    host.disown(qp.qpNum);
    if (this.id.qp === qp) this.id.destroyQp();
    else qp[Symbol.dispose]();
  }

  /** Moves a queue pair of the program's own to where it can send. */
  protected moveQp(): void {
    for (const state of [QpState.RTR, QpState.RTS]) this.qp?.modify(this.id.initQpAttr(state));
  }

  /** The connection is up: the messages go out at once, and in time comes the end. */
  protected rise(): void {
    this.wasUp = true;
    const { end, messages } = this.plan;
    if (this.qp?.qpType === QpType.RC) this.traffic?.send(messages);
    if (end.how !== 'stay') this.later(end.afterUs, () => (end.how === 'destroy' ? this.destroy() : this.disconnect()));
  }

  protected disconnect(): void {
    if (this.space === 'UDP') return;
    if (this.plan.external) this.qp?.modify({ qpState: QpState.ERR });
    this.call('disconnect', () => this.id.disconnect());
  }

  /** The peer has parted. */
  protected answerParting(): void {
    const { answer, answerAfterUs } = this.plan.end;
    if (answer === 'ignore') return;
    this.later(answerAfterUs, () => (answer === 'destroy' ? this.destroy() : this.disconnect()));
  }

  protected checkWords(what: string, actual: Uint8Array | undefined, words: Uint8Array, room: number): void {
    check(
      actual?.length === room && isPadded(actual, words),
      () => `${what} of ${this.toString()} bears wrong private data`,
    );
  }

  #step(): void {
    this.#steps += 1;
    this.#planStrays();
  }

  #planStrays(): void {
    for (const stray of this.plan.strays)
      if (stray.after === this.#steps) this.world.after(stray.delayUs, () => this.#stray(stray));
  }

  /** Calls something that nothing asks for. */
  #stray({ which }: StrayPlan): void {
    const { host } = this;
    if (host.fate === 'dead') return;
    host.takeEvents();
    this.play(strayFor(this, which), choiceOf(which));
  }

  /** Makes a stray call. What is refused changes nothing. */
  protected play({ name, call, wrong, act }: Stray, choice: number): void {
    const { host, id } = this;
    const before = host.pictureOf(id);
    if (this.call(call, () => act(this, choice), { name, wrong: wrong?.(this, choice) })) return;
    const after = host.pictureOf(id);
    check(before === after, () => `${name} by ${this.toString()}, which was refused, made ${before} ${after}`);
  }

  #lose(): void {
    check(!this.host.up, () => `DEVICE_REMOVAL of a device that is there, for ${this.toString()}`);
    this.state = 'removed';
    this.history.push('DEVICE_REMOVAL');
  }
}

/** Whether bytes are those words, with zeros at the end. */
export function isPadded(bytes: Uint8Array, words: Uint8Array): boolean {
  return bytes.length >= words.length && bytes.every((byte, i) => byte === (i < words.length ? words[i] : 0));
}
