import { QpState, QpType, SrqType } from '../../../device/ibta/index.js';
import type { CmQp } from '../../../device/cm/index.js';
import {
  type Context,
  type Cq,
  defaultQpCap,
  invalid,
  isObject,
  objectProblem,
  type Pd,
  type Qp,
  type QpInitAttr,
  refuse,
  show,
  type Srq,
  type SrqInitAttr,
  VerbsError,
  type Xrcd,
  type XrcTargetQp,
  type XrcTargetQpInitAttr,
} from '../../verbs/index.js';
import { Completions } from '../calls/completions.js';
import type { Identity } from './identity.js';
import type { IdQpInitAttr } from './parameters.js';

/** The domains that identifiers of a device share when their programs give none, as librdmacm has them. */
interface Shared {
  pd?: Pd;
  xrcd?: Xrcd;
}

const shared = new WeakMap<Context, Shared>();

function sharedOf(context: Context): Shared {
  let domains = shared.get(context);
  if (domains === undefined) {
    domains = {};
    shared.set(context, domains);
  }
  return domains;
}

/** @throws VerbsError as `Context.allocPd` */
function sharedPd(context: Context): Pd {
  return (sharedOf(context).pd ??= context.allocPd());
}

/** @throws VerbsError as `Context.openXrcd` */
function sharedXrcd(context: Context): Xrcd {
  return (sharedOf(context).xrcd ??= context.openXrcd());
}

const CREATE = 'rdma_create_qp';
const CREATE_SRQ = 'rdma_create_srq';
/** Types of queue pairs that identifiers of connections may have. */
const CONNECTED: readonly QpType[] = [QpType.RC, QpType.UC, QpType.XRC_SEND];

/** The objects of an identifier: its queue pair, and what was made for that. */
export class CmIdResources {
  qp: Qp | undefined;
  targetQp: XrcTargetQp | undefined;
  srq: Srq | undefined;
  /** What was made because the program gave none. */
  sends: Completions | undefined;
  receives: Completions | undefined;
  /** Its completion queues have no channels of their own, but that of the device's connections. */
  sharesChannel = false;
  chosenPd: Pd | undefined;

  constructor(private readonly identity: Identity) {}

  get pd(): Pd | undefined {
    if (this.chosenPd !== undefined) return this.chosenPd;
    const { context } = this.identity;
    return context && sharedPd(context);
  }

  /** How the connection manager knows the queue pair. */
  get connectable(): CmQp | undefined {
    const { qp, targetQp } = this;
    if (qp !== undefined) return { qpNum: qp.qpNum, qpType: qp.qpType, srq: qp.srq !== undefined, managed: true };
    if (targetQp === undefined) return undefined;
    return { qpNum: targetQp.qpNum, qpType: QpType.XRC_RECV, srq: true, managed: true };
  }

  createQp(pd: Pd | undefined, init: IdQpInitAttr): Qp {
    const context = this.identity.requireContext('createQp');
    refuse(CREATE, objectProblem('init', init));
    this.#requireNone();
    const qpType = this.#typeOf(init.qpType);
    const domain = this.#domain(CREATE, context, pd);
    const own: Completions[] = [];
    try {
      const queues = this.#completionQueues(context, qpType, init, own);
      const srq = init.srq ?? (qpType === QpType.XRC_SEND ? undefined : this.srq);
      const qp = domain.createQp({ ...init, qpType, ...queues, ...(srq && { srq }) } satisfies QpInitAttr);
      this.#initialise(qp);
      this.qp = qp;
    } catch (error) {
      for (const completions of own) this.#endCompletions(completions);
      throw error;
    }
    this.identity.settle(CREATE);
    this.identity.qpType = qpType;
    this.chosenPd = domain;
    return this.qp;
  }

  createTargetQp(xrcd: Xrcd | undefined, init: XrcTargetQpInitAttr | undefined): XrcTargetQp {
    const context = this.identity.requireContext('createQp');
    this.#requireNone();
    if (this.identity.qpType !== QpType.XRC_RECV)
      throw new VerbsError(CREATE, invalid('the identifier is not of type XRC_RECV', 'createQp makes the others'));
    const domain = xrcd ?? sharedXrcd(context);
    if (domain.context !== context) throw foreign(CREATE, 'xrcd');
    const qp = domain.createQp(init);
    this.#initialise(qp);
    this.identity.settle(CREATE);
    this.targetQp = qp;
    return qp;
  }

  destroyQp(): void {
    const { qp, targetQp } = this;
    if (qp === undefined && targetQp === undefined)
      throw new VerbsError('rdma_destroy_qp', invalid('the identifier has no queue pair'));
    // The program may have ended it by its own name.
    qp?.[Symbol.dispose]();
    targetQp?.[Symbol.dispose]();
    this.qp = undefined;
    this.targetQp = undefined;
    this.#endUnused();
  }

  createSrq(pd: Pd | undefined, init: SrqInitAttr): Srq {
    const context = this.identity.requireContext('createSrq');
    refuse(CREATE_SRQ, objectProblem('init', init));
    if (this.srq !== undefined)
      throw new VerbsError(CREATE_SRQ, invalid('the identifier has a shared receive queue', 'End that first'));
    const domain = this.#domain(CREATE_SRQ, context, pd);
    const srqType = init.srqType ?? (this.identity.qpType === QpType.XRC_RECV ? SrqType.XRC : SrqType.BASIC);
    const own: Completions[] = [];
    try {
      this.srq = domain.createSrq({
        ...init,
        srqType,
        ...(srqType === SrqType.XRC && this.#xrcParts(context, init, own)),
      });
    } catch (error) {
      for (const completions of own) this.#endCompletions(completions);
      throw error;
    }
    this.identity.settle(CREATE_SRQ);
    this.chosenPd ??= domain;
    return this.srq;
  }

  destroySrq(): void {
    const { srq } = this;
    if (srq === undefined)
      throw new VerbsError('rdma_destroy_srq', invalid('the identifier has no shared receive queue'));
    srq[Symbol.dispose]();
    this.srq = undefined;
    this.#endUnused();
  }

  end(): void {
    if (this.qp !== undefined || this.targetQp !== undefined) this.destroyQp();
    if (this.srq !== undefined) this.destroySrq();
  }

  #typeOf(asked: QpType | undefined): QpType {
    const { identity } = this;
    const qpType = asked ?? identity.qpType;
    if (identity.datagrams ? qpType === QpType.UD : CONNECTED.includes(qpType)) return qpType;
    const advice =
      qpType === QpType.XRC_RECV ? 'createTargetQp makes those of type XRC_RECV' : 'Its port space decides the type';
    throw new VerbsError(CREATE, invalid(`the identifier cannot have a queue pair of type ${show(qpType)}`, advice));
  }

  #requireNone(): void {
    if (this.qp === undefined && this.targetQp === undefined) return;
    throw new VerbsError(CREATE, invalid('the identifier has a queue pair', 'One is enough; destroyQp ends it'));
  }

  #domain(call: string, context: Context, pd: Pd | undefined): Pd {
    const domain = pd ?? this.chosenPd ?? sharedPd(context);
    if (!isObject(domain) || domain.context !== context) throw foreign(call, 'pd');
    return domain;
  }

  /** The program's completion queues, or new ones, which `own` gets as well. */
  #completionQueues(
    context: Context,
    qpType: QpType,
    init: IdQpInitAttr,
    own: Completions[],
  ): { sendCq: Cq; recvCq: Cq } {
    const { id } = this.identity;
    const make = (cqe: number): Completions => {
      const completions = new Completions(context, {
        cqe: Math.max(1, cqe),
        cqContext: id,
        isShared: this.sharesChannel,
      });
      own.push(completions);
      return completions;
    };
    const sendCq = init.sendCq ?? (this.sends ??= make(init.cap?.maxSendWr ?? defaultQpCap.maxSendWr)).cq;
    if (qpType === QpType.XRC_SEND) return { sendCq, recvCq: init.recvCq ?? sendCq };
    const srq = init.srq ?? this.srq;
    const receives = Math.max(init.cap?.maxRecvWr ?? defaultQpCap.maxRecvWr, srq?.maxWr ?? 0);
    return { sendCq, recvCq: init.recvCq ?? (this.receives ??= make(receives)).cq };
  }

  #xrcParts(context: Context, init: SrqInitAttr, own: Completions[]): Pick<SrqInitAttr, 'xrcd' | 'cq'> {
    const xrcd = init.xrcd ?? sharedXrcd(context);
    if (init.cq !== undefined) return { xrcd, cq: init.cq };
    if (this.receives === undefined) {
      const { id } = this.identity;
      this.receives = new Completions(context, { cqe: init.maxWr, cqContext: id, isShared: this.sharesChannel });
      own.push(this.receives);
    }
    return { xrcd, cq: this.receives.cq };
  }

  /** As far as it goes without a peer: a connected one can be given receive requests, one for datagrams works. */
  #initialise(qp: Qp | XrcTargetQp): void {
    const { identity } = this;
    try {
      const { qpType } = qp;
      qp.modify(identity.command(CREATE, 'cmInitQpAttr', (id) => ({ id, qpType, qpState: QpState.INIT })));
      if (qpType !== QpType.UD) return;
      qp.modify({ qpState: QpState.RTR });
      qp.modify({ qpState: QpState.RTS, sqPsn: 0 });
    } catch (error) {
      qp.destroy();
      throw error;
    }
  }

  #endCompletions(completions: Completions): void {
    if (this.sends === completions) this.sends = undefined;
    if (this.receives === completions) this.receives = undefined;
    completions.end();
  }

  /** Ends the completion queues that nothing completes into any more. */
  #endUnused(): void {
    if (this.qp !== undefined || this.targetQp !== undefined) return;
    if (this.sends !== undefined) this.#endCompletions(this.sends);
    // An XRC queue completes into its own.
    if (this.receives !== undefined && this.srq?.srqType !== SrqType.XRC) this.#endCompletions(this.receives);
  }
}

function foreign(call: string, what: string): VerbsError {
  return new VerbsError(call, invalid(`${what} is of another device`, 'It must be of the device of the identifier'));
}
