import { identityOf } from '../../identifiers/identity.js';
import { CmEventType } from '../../../../device/ibta/index.js';
import {
  type CmEvent,
  type CmId,
  type CompChannel,
  type Context,
  type Cq,
  createEventChannel,
  type EventChannel,
  type Pd,
  type Qp,
  QpType,
} from '../../../../entry/index.js';
import { type SimulatedCluster } from '../../../../entry/sim.js';
import { check } from '../../../../../test/sim/failure.js';
import { acknowledgeLate } from './acknowledging.js';
import type { Actor } from './actor.js';
import { Inside } from './inside.js';
import type { ListenerPlan } from './plan.js';
import { MessageMemory, MOST_MESSAGES } from './traffic.js';

const CQ_ENTRIES = 512;

/** Whoever hears of what happens at a host. */
export interface HostObserver {
  readonly nowUs: number;
  /** @returns what the program does about it */
  onRequest(host: Host, plan: ListenerPlan, event: CmEvent): () => void;
}

/** A host of the simulated network and the program that runs there, over the public API. */
export class Host {
  readonly context: Context;
  readonly inside: Inside;
  readonly channel: EventChannel;
  /** READs that a queue pair may have outstanding, at most. */
  readonly mostReads: number;
  readonly pd: Pd;
  readonly cq: Cq;
  readonly memory: MessageMemory;
  readonly actors = new Map<CmId, Actor>();
  readonly listeners = new Map<CmId, ListenerPlan>();
  /** Whether its device is there, the program has closed it, or all of the host is gone. */
  fate: 'up' | 'closed' | 'dead' = 'up';
  lookedUs = 0;
  readonly #channels: readonly EventChannel[];
  readonly #completions: CompChannel;
  readonly #pairs = new Map<number, Actor>();

  constructor(
    cluster: SimulatedCluster,
    readonly index: number,
    readonly address: string,
    private readonly observer: HostObserver,
  ) {
    this.context = cluster.open(address);
    this.inside = new Inside(this.context);
    this.#channels = [1, 2].map(() => createEventChannel({ contexts: [this.context] }));
    this.channel = this.#channels[0];
    this.mostReads = this.context.queryDevice().maxQpRdAtom;
    this.pd = this.context.allocPd();
    this.#completions = this.context.createCompChannel();
    this.cq = this.context.createCq({ cqe: CQ_ENTRIES, channel: this.#completions });
    this.cq.reqNotify();
    this.memory = new MessageMemory(this.pd);
  }

  get up(): boolean {
    return this.fate === 'up';
  }

  /** What every queue pair here is made of. */
  get qpInit() {
    const cap = { maxSendWr: MOST_MESSAGES, maxRecvWr: MOST_MESSAGES, maxSendSge: 1, maxRecvSge: 1 };
    return { sendCq: this.cq, recvCq: this.cq, cap, sqSigAll: true };
  }

  /** The one of the program's two channels that is not this one. */
  otherChannel(channel: EventChannel | undefined): EventChannel {
    const [first, second] = this.#channels;
    return channel === first ? second : first;
  }

  /** All that there is to see of an identifier, and of what its device has and has said. */
  pictureOf(id: CmId): string {
    const { state, isOver, unacknowledged, options, local, peer, qpType } = identityOf(id);
    const channel = this.#channels.findIndex((one) => one === id.channel);
    const facts = { state, isOver, unacknowledged, channel, ...options, local, peer, qpType, qpn: id.qp?.qpNum };
    return `${JSON.stringify(facts)}; ${this.inside.picture}`;
  }

  /** A queue pair that no identifier knows of. */
  makeQp(): Qp {
    return this.pd.createQp({ ...this.qpInit, qpType: QpType.RC });
  }

  own(qpn: number, actor: Actor): void {
    this.#pairs.set(qpn, actor);
  }

  disown(qpn: number): void {
    this.#pairs.delete(qpn);
  }

  actorOf(qpn: number): Actor | undefined {
    return this.#pairs.get(qpn);
  }

  /** Takes everything that has happened. */
  pump(): void {
    this.takeEvents();
    this.#takeCompletions();
  }

  /**
   * Takes the events. Of several that have come together the program knows them all before it does anything: it may call
   * for a connection that it has only just lost.
   */
  takeEvents(): void {
    if (this.fate === 'dead') return;
    for (let reactions = this.#takeBatch(); reactions.length > 0; reactions = this.#takeBatch())
      for (const react of reactions) react();
  }

  /** Ends every identifier. */
  endIdentifiers(): void {
    for (const actor of [...this.actors.values()]) actor.destroy();
    for (const id of this.listeners.keys()) id.destroy();
    this.listeners.clear();
  }

  end(): void {
    for (const channel of this.#channels) channel.destroy();
    if (!this.up) return;
    this.memory.end();
    this.cq.destroy();
    this.#completions.destroy();
    this.pd.dealloc();
    this.context.close();
  }

  /** @returns what the program does at each event */
  #takeBatch(): (() => void)[] {
    const reactions: (() => void)[] = [];
    for (const channel of this.#channels)
      for (let event = channel.tryGetCmEvent(); event !== undefined; event = channel.tryGetCmEvent()) {
        this.#acknowledge(event, channel);
        const reaction = this.#take(event);
        if (reaction !== undefined) reactions.push(reaction);
      }
    return reactions;
  }

  #acknowledge(event: CmEvent, channel: EventChannel): void {
    const { id, listenId } = event;
    const isLate =
      listenId === undefined ? this.actors.get(id)?.acknowledgesLate() : this.listeners.get(listenId)?.lateAck;
    if (isLate === true) acknowledgeLate(event, this.otherChannel(channel));
    else event.ack();
  }

  #take(event: CmEvent): (() => void) | undefined {
    const { id, listenId } = event;
    if (event.event === CmEventType.CONNECT_REQUEST) {
      const plan = listenId && this.listeners.get(listenId);
      check(plan !== undefined, () => `${this.address}: a request for nobody who listens`);
      return this.observer.onRequest(this, plan, event);
    }
    if (event.event === CmEventType.DEVICE_REMOVAL && this.listeners.has(id)) {
      check(!this.up, () => `${this.address}: DEVICE_REMOVAL of a device that is there`);
      return undefined;
    }
    const actor = this.actors.get(id);
    check(actor !== undefined, () => `${this.address}: event ${event.event} for an identifier that was destroyed`);
    return actor.take(event);
  }

  #takeCompletions(): void {
    // Looking where nothing is any more makes time pass, in which the device may end.
    while (this.up) {
      const cq = this.#completions.tryGetCqEvent();
      if (cq === undefined) break;
      cq.ackEvents();
      cq.reqNotify();
      for (const completion of cq.poll(CQ_ENTRIES)) this.#pairs.get(completion.qpNum)?.traffic?.take(completion);
    }
    this.lookedUs = this.observer.nowUs;
  }
}
