/** Extended reliable connections (protocol/services.md 3.3) in one direction. */
import {
  alloc,
  type Context,
  type Cq,
  type Mr,
  type Pd,
  QpType,
  type Srq,
  SrqType,
  type XrcDestination,
  type Xrcd,
  type XrcTargetQp,
} from '../../src/entry/index.js';
import { ALL_ACCESS, bringUp, End, type EndOptions, type PathOptions } from './support.js';

/** What takes: a domain, a queue pair in it, and a shared receive queue with a completion queue of its own. */
export class XrcReceiver implements Disposable {
  readonly context: Context;
  readonly pd: Pd;
  readonly mr: Mr;
  readonly cq: Cq;
  readonly xrcd: Xrcd;
  readonly srq: Srq;
  readonly qp: XrcTargetQp;
  readonly #kept: Disposable[] = [];

  constructor(context: Context, options: EndOptions = {}) {
    this.context = context;
    this.pd = this.keep(context.allocPd());
    this.mr = this.keep(this.pd.regMr(alloc(options.bytes ?? 8192), options.access ?? ALL_ACCESS));
    this.cq = this.keep(context.createCq({ cqe: options.cqe ?? 256 }));
    this.xrcd = this.keep(context.openXrcd());
    this.srq = this.keep(
      this.pd.createSrq({ srqType: SrqType.XRC, maxWr: 128, maxSge: 4, xrcd: this.xrcd, cq: this.cq }),
    );
    this.qp = this.keep(this.xrcd.createQp());
  }

  /** How requests name the queue. */
  get destination(): XrcDestination {
    return { remoteSrqn: this.srq.srqNum };
  }

  /** Has `object` end with this, before all that was made earlier. */
  keep<T extends Disposable>(object: T): T {
    this.#kept.push(object);
    return object;
  }

  [Symbol.dispose](): void {
    for (const object of this.#kept.splice(0).reverse()) object[Symbol.dispose]();
  }
}

/** A sender on the first device, and the receiver that it is connected to on the second. */
export class XrcPair implements Disposable {
  readonly local: End;
  readonly remote: XrcReceiver;

  constructor(contexts: readonly Context[], options: EndOptions & PathOptions = {}) {
    this.local = new End(contexts[0], { ...options, qpType: QpType.XRC_SEND });
    this.remote = new XrcReceiver(contexts[contexts.length - 1], options);
    const { local, remote } = this;
    bringUp(remote.qp, { context: local.context, qpNum: local.qp.qpNum }, options);
    bringUp(local.qp, { context: remote.context, qpNum: remote.qp.qpNum }, options);
  }

  [Symbol.dispose](): void {
    this.local[Symbol.dispose]();
    this.remote[Symbol.dispose]();
  }
}
