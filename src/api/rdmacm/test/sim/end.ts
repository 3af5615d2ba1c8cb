import { type CmEvent as CmDeviceEvent, type CmQp } from '../../../../device/cm/index.js';
import { CmEventType, PrivateDataBytes, RejectReason } from '../../../../device/ibta/index.js';
import { type Qp, QpState, QpType, WrOpcode } from '../../../../entry/index.js';
import { refusalOf } from '../../../../../test/support/refusal.js';
import { check } from '../../../../../test/sim/failure.js';
import {
  afterCall,
  afterEvent,
  connectionRules,
  eventNames,
  type IdRules,
  type IdState,
  refusalIn,
  resolutionRules,
} from './automaton.js';
import type { Machine } from './machine.js';

type EndCall = 'accept' | 'reject' | 'establish' | 'disconnect';

/** What a program does, at once or after a while. */
export interface Step {
  readonly call: EndCall | 'destroy' | 'send';
  readonly afterUs?: number;
}

type EventName = keyof typeof CmEventType;

/** What a program does at each event, beside what the event itself asks for. */
export interface Behaviour {
  /** The program moves its queue pair by itself. */
  readonly external?: true;
  readonly start?: readonly Step[];
  readonly on?: Readonly<Partial<Record<EventName, readonly Step[]>>>;
}

/** Runs something at a time of the simulation. */
export type At = (afterUs: number, action: () => void) => void;

const SERVICE = {
  responderResources: 4,
  initiatorDepth: 4,
  flowControl: true,
  rnrRetryCount: 7,
} as const;
/** What is said with a request, with its acceptance, and with its refusal. */
const WORDS = { ask: Buffer.from('may I?'), accept: Buffer.from('yes'), reject: Buffer.from('no') } as const;

function padded(words: Uint8Array, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  bytes.set(words);
  return bytes;
}

/** One identifier, the queue pair behind it, and the program that has both. */
export class End {
  state: IdState;
  /** The events so far, with their statuses where they are not 0. */
  readonly history: string[] = [];
  qp: Qp | undefined;
  final: IdState = 'asking';
  /** Of the peer, as the newest event told it. */
  peerQpn = 0;
  readonly #rules: IdRules;

  constructor(
    readonly machine: Machine,
    readonly id: number,
    readonly role: 'client' | 'server',
    readonly qpType: QpType,
    private readonly behaviour: Behaviour,
    private readonly at: At,
  ) {
    this.#rules = qpType === QpType.UD ? resolutionRules : connectionRules;
    this.state = role === 'client' ? 'asking' : 'asked';
  }

  get external(): boolean {
    return this.behaviour.external === true;
  }

  get ending(): string {
    return `${this.history.join(', ')} [${this.final}]`.trimStart();
  }

  ask(destination: Uint8Array, port: number): void {
    this.machine.command('cmConnect', {
      ...SERVICE,
      id: this.id,
      privateData: WORDS.ask,
      destination,
      port,
      qp: this.qpType === QpType.UD ? undefined : this.#cmQp,
      retryCount: 7,
      trafficClass: 0,
    });
    this.#follow(this.behaviour.start);
  }

  /** Notes the request by which a server's identifier came to be. */
  asked({ privateData, conn }: CmDeviceEvent): void {
    const { CONNECT, RESOLVE } = PrivateDataBytes;
    const length = this.qpType === QpType.UD ? RESOLVE : CONNECT;
    this.#checkWords('CONNECT_REQUEST', privateData, padded(WORDS.ask, length));
    this.peerQpn = conn?.qpNum ?? 0;
    this.#follow(this.behaviour.on?.CONNECT_REQUEST);
  }

  take(event: CmDeviceEvent): void {
    const name = eventNames[event.type];
    this.state = afterEvent(this.#rules, this.state, event.type, event.status);
    this.history.push(event.status === 0 ? name : `${name} ${event.status}`);
    this.peerQpn = event.conn?.qpNum ?? this.peerQpn;
    this.#checkPrivateData(name, event);
    this.#follow(this.behaviour.on?.[name as EventName]); // the names are that type's keys
  }

  destroy(): void {
    if (this.state === 'destroyed') return;
    this.state = 'destroyed';
    this.machine.command('cmDestroyId', this.id);
  }

  #follow(steps: readonly Step[] = []): void {
    for (const { call, afterUs = 0 } of steps) {
      if (afterUs === 0) this.#do(call);
      else this.at(afterUs, () => this.#do(call));
    }
  }

  #do(call: Step['call']): void {
    if (call === 'destroy') this.destroy();
    else if (call === 'send') this.#send();
    else if (this.state !== 'destroyed') this.#call(call);
  }

  /** An empty message, which still says that the peer is there. */
  #send(): void {
    this.qp?.postSend({ opcode: WrOpcode.SEND });
  }

  /** Calls, and checks that the call is refused when it must be, and only then. */
  #call(call: EndCall): void {
    const before = this.state;
    const expected = refusalIn(this.#rules, before, call);
    const problem = refusalOf(() => this.#calls[call]());
    check(
      problem?.errno === expected,
      () => `${call} by a ${this.role} that is ${before} was ${problem?.message ?? 'not refused'}`,
    );
    if (expected === undefined) {
      this.state = afterCall(this.#rules, before, call);
    } else if (call === 'accept' && before !== 'accepted') {
      // Made for nothing.
      this.qp?.destroy();
      this.qp = undefined;
    }
  }

  readonly #calls: Readonly<Record<EndCall, () => void>> = {
    accept: () => {
      this.qp ??= this.machine.makeQp(this.qpType);
      this.qp.postRecv({});
      const { id } = this;
      if (this.behaviour.external === true && this.state === 'asked') this.#moveQp();
      this.machine.command('cmAccept', { ...SERVICE, id, privateData: WORDS.accept, qp: this.#cmQp });
    },
    reject: () => this.machine.command('cmReject', { id: this.id, privateData: WORDS.reject }),
    establish: () => {
      if (this.state === 'answered') this.#moveQp();
      this.machine.command('cmEstablish', this.id);
    },
    disconnect: () => {
      if (this.behaviour.external === true) this.qp?.modify({ qpState: QpState.ERR });
      this.machine.command('cmDisconnect', this.id);
    },
  };

  get #cmQp(): CmQp {
    const qp = (this.qp ??= this.machine.makeQp(this.qpType));
    return { qpNum: qp.qpNum, qpType: this.qpType, srq: false, managed: this.behaviour.external !== true };
  }

  #moveQp(): void {
    for (const qpState of [QpState.RTR, QpState.RTS])
      this.qp?.modify(this.machine.command('cmInitQpAttr', { id: this.id, qpType: this.qpType, qpState }));
  }

  #checkPrivateData(name: string, { type, status, privateData }: CmDeviceEvent): void {
    const { ESTABLISHED, CONNECT_RESPONSE, REJECTED } = CmEventType;
    const { ACCEPT, RESOLVED, REJECT } = PrivateDataBytes;
    if (this.role === 'client' && (type === ESTABLISHED || type === CONNECT_RESPONSE))
      this.#checkWords(name, privateData, padded(WORDS.accept, this.qpType === QpType.UD ? RESOLVED : ACCEPT));
    // Whoever destroys an identifier refuses without a word, and so does the connection manager itself.
    if (type === REJECTED && status === RejectReason.CONSUMER_DEFINED && privateData.some((byte) => byte !== 0))
      this.#checkWords(name, privateData, padded(WORDS.reject, REJECT));
  }

  #checkWords(name: string, actual: Uint8Array, expected: Uint8Array): void {
    check(Buffer.compare(actual, expected) === 0, () => `${name} of a ${this.role} bears wrong private data`);
  }
}
