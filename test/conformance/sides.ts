/** Ends of connections whose completion queues and channels the test chooses; by the public API alone. */
import assert from 'node:assert/strict';
import {
  type Ah,
  alloc,
  type CompChannel,
  type Context,
  type Cq,
  type CqInitAttr,
  type Mr,
  type Pd,
  type Qp,
  type QpCap,
  QpType,
  type Srq,
  WcExFlags,
  type WorkCompletion,
} from '../../src/entry/index.js';
import { ALL_ACCESS, bringUp, type PathOptions, targetOf } from './support.js';

const { WITH_QP_NUM, WITH_COMPLETION_TIMESTAMP, WITH_COMPLETION_TIMESTAMP_WALLCLOCK } = WcExFlags;

/** Completion queues as `ibv_create_cq` and as `ibv_create_cq_ex` make them. */
export const CQ_KINDS: readonly (readonly [string, Pick<CqInitAttr, 'wcFlags'>])[] = [
  ['completion queues', {}],
  [
    'extended completion queues',
    { wcFlags: WITH_QP_NUM | WITH_COMPLETION_TIMESTAMP | WITH_COMPLETION_TIMESTAMP_WALLCLOCK },
  ],
];

export interface SideOptions {
  /** Default RC. */
  readonly qpType?: QpType;
  /** Bytes of registered memory; default 4096. */
  readonly bytes?: number;
  readonly cap?: Partial<QpCap>;
  readonly srq?: Srq;
  /** Where it completes: a queue that somebody else ends, or what to make one of. Default 64 entries. */
  readonly sendCq?: Cq | CqInitAttr;
  readonly recvCq?: Cq | CqInitAttr;
}

/** Whatever was made last ends first. */
export class Belongings implements Disposable {
  readonly #kept: Disposable[] = [];

  keep<T extends Disposable>(object: T): T {
    this.#kept.push(object);
    return object;
  }

  [Symbol.dispose](): void {
    for (const object of this.#kept.splice(0).reverse()) object[Symbol.dispose]();
  }
}

/** One end, with a queue for each kind of completions. */
export class Side extends Belongings {
  readonly context: Context;
  readonly pd: Pd;
  readonly mr: Mr;
  readonly sendCq: Cq;
  readonly recvCq: Cq;
  readonly qp: Qp;

  constructor(context: Context, options: SideOptions = {}) {
    super();
    const { qpType = QpType.RC, bytes = 4096, cap, srq } = options;
    this.context = context;
    this.pd = srq?.pd ?? this.keep(context.allocPd());
    this.mr = this.keep(this.pd.regMr(alloc(bytes), ALL_ACCESS));
    this.sendCq = this.#queue(options.sendCq);
    this.recvCq = this.#queue(options.recvCq);
    this.qp = this.keep(
      this.pd.createQp({
        qpType,
        sendCq: this.sendCq,
        recvCq: this.recvCq,
        ...(cap === undefined ? {} : { cap }),
        ...(srq === undefined ? {} : { srq }),
      }),
    );
  }

  #queue(from: Cq | CqInitAttr = { cqe: 64 }): Cq {
    return 'poll' in from ? from : this.keep(this.context.createCq(from));
  }
}

/** Two of them that can talk to each other. */
export class SidePair implements Disposable {
  readonly local: Side;
  readonly remote: Side;

  constructor(contexts: readonly Context[], local: SideOptions = {}, remote: SideOptions = local, path?: PathOptions) {
    this.local = new Side(contexts[0], local);
    this.remote = new Side(contexts[contexts.length - 1], remote);
    const datagrams = this.local.qp.qpType === QpType.UD;
    bringUp(this.remote.qp, datagrams ? undefined : targetOf(this.local), path);
    bringUp(this.local.qp, datagrams ? undefined : targetOf(this.remote), path);
  }

  [Symbol.dispose](): void {
    this.local[Symbol.dispose]();
    this.remote[Symbol.dispose]();
  }
}

/** An address handle from one side to another; it ends with `from`. */
export function sideHandle(from: Side, to: { readonly context: Context }): Ah {
  return from.keep(from.pd.createAh({ grh: { dgid: to.context.queryGid(1, 0) } }));
}

/** Waits until a NIC is done with all that its completions tell of so far, events too. */
export function settle(context: Context): void {
  // A command waits until the NIC has put down what it has in hand.
  context.allocPd().dealloc();
}

/** Long enough for any machine. */
const PATIENCE_MS = 20_000;

/** The CQ that the next event of a channel names, acknowledged. */
export function takeEvent(channel: CompChannel): Cq {
  const cq = channel.getCqEvent(PATIENCE_MS);
  cq.ackEvents();
  return cq;
}

/** That no event is there, nor about to come from what has completed. */
export function assertNoEvent(channel: CompChannel): void {
  settle(channel.context);
  assert.equal(channel.tryGetCqEvent(), undefined);
}

/** The ids of the completions of each QP, in the order in which they came. */
export function idsByQp(completions: readonly Pick<WorkCompletion, 'qpNum' | 'wrId'>[]): Map<number, bigint[]> {
  const ids = new Map<number, bigint[]>();
  for (const { qpNum, wrId } of completions) ids.set(qpNum, [...(ids.get(qpNum) ?? []), wrId]);
  return ids;
}

/** 0n, 1n and so on. */
export const countUp = (count: number): bigint[] => Array.from({ length: count }, (_, i) => BigInt(i));
