import { type CmEvent, type CmId, type Qp, QpState, QpType, VerbsError } from '../../../src/index.js';
import { CmEventType } from '../../../src/spec/index.js';
import { check } from '../failure.js';
import {
  afterCall,
  afterEvent,
  connectionRules,
  eventNames,
  type IdCall,
  type IdRules,
  type IdState,
  resolutionRules,
} from './automaton.js';
import type { Host } from './host.js';
import type { SidePlan, Space } from './plan.js';
import { Traffic } from './traffic.js';
import type { World } from './world.js';

/** The part of a program that has one identifier, and the model of that identifier. */
export abstract class Actor {
  abstract readonly role: 'client' | 'server';
  state: IdState;
  /** It could send; of a client of its own queue pair, it had said so. */
  wasUp = false;
  /** The peer's queue pair, as the newest event told it. */
  peerQpn = 0;
  qp: Qp | undefined;
  traffic: Traffic | undefined;
  readonly history: string[] = [];
  readonly #rules: IdRules;

  constructor(
    readonly world: World,
    readonly host: Host,
    readonly id: CmId,
    readonly space: Space,
    readonly plan: SidePlan,
    /** Of all actors of the run. */
    readonly number: number,
    state: IdState,
  ) {
    this.state = state;
    this.#rules = space === 'UDP' ? resolutionRules : connectionRules;
    host.actors.set(id, this);
    this.later(plan.destroyAfterUs, () => this.destroy());
  }

  toString(): string {
    return `${this.role} ${this.number} at ${this.host.address} (${this.space}, ${this.state}; ${this.history.join(', ')})`;
  }

  /** Whether the program is there that has it. */
  get lives(): boolean {
    return this.host.up && this.state !== 'destroyed';
  }

  /** Notes an event. @returns what the program does about it */
  take(event: CmEvent): (() => void) | undefined {
    const { event: type, status } = event;
    const name = eventNames[type];
    this.world.trace(() => `${this.toString()} hears ${name} ${status}`);
    if (type === CmEventType.DEVICE_REMOVAL) {
      this.#lose();
      return undefined;
    }
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

  /** Ends the identifier and its queue pair, in whatever state. */
  destroy(): void {
    if (this.state === 'destroyed') return;
    this.world.trace(() => `${this.toString()} is destroyed`);
    this.state = 'destroyed';
    this.host.actors.delete(this.id);
    if (this.plan.queuePairFirst) this.endQp();
    this.id.destroy();
    this.endQp();
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

  /** Calls, and checks that the call is refused when it must be, and only then. @returns whether it was not */
  protected call(call: IdCall, action: () => void): boolean {
    const next = afterCall(this.#rules, this.state, call);
    const problem = refusalOf(action);
    this.world.trace(() => `${this.toString()} calls ${call}${problem === undefined ? '' : ', refused'}`);
    check(
      (problem === undefined) === (next !== undefined),
      () => `${call} by ${this.toString()} was ${problem?.message ?? 'not refused'}`,
    );
    if (next !== undefined) this.state = next;
    return next !== undefined;
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

/** @returns how a call was refused, if it was; for a wrong state that is EINVAL */
function refusalOf(action: () => void): VerbsError | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    if (error instanceof VerbsError && error.errno === 'EINVAL') return error;
    throw error;
  }
}
