/** Queue pairs of the types other than RC, brought to where they can send. */
import {
  AccessFlags,
  type Ah,
  alloc,
  type Context,
  type Cq,
  type Mr,
  Mtu,
  type Pd,
  PostError,
  type Qp,
  type QpBase,
  type QpInitAttr,
  QpState,
  QpType,
} from '../../../../entry/index.js';
import { ALL_ACCESS, type Hosting, openContexts } from './pair.js';

export const QKEY = 0x11111111;
const CAP = { maxSendSge: 4, maxRecvSge: 4, maxInlineData: 64 };

export interface Bench {
  readonly context: Context;
  readonly pd: Pd;
  readonly mr: Mr;
  readonly cq: Cq;
}

export function makeBench(context: Context): Bench {
  const pd = context.allocPd();
  const mr = pd.regMr(alloc(16384), ALL_ACCESS | AccessFlags.MW_BIND | AccessFlags.FLUSH_GLOBAL);
  return { context, pd, mr, cq: context.createCq({ cqe: 256 }) };
}

/** Two devices with what queue pairs are made of; closing them ends all of it. */
export class Benches implements Disposable {
  readonly a: Bench;
  readonly b: Bench;

  /** `net` is a /24 network of loopback addresses, that of this process. */
  constructor(hosting: Hosting, net: string) {
    const [first, second] = openContexts(hosting, net);
    this.a = makeBench(first);
    this.b = makeBench(second);
  }

  [Symbol.dispose](): void {
    this.a.context[Symbol.dispose]();
    this.b.context[Symbol.dispose]();
  }
}

export function makeQp({ pd, cq }: Bench, qpType: QpType, more: Partial<QpInitAttr> = {}): Qp {
  return pd.createQp({ qpType, sendCq: cq, recvCq: cq, cap: CAP, ...more });
}

export function makeUd(bench: Bench, more: Partial<QpInitAttr> = {}): Qp {
  const qp = makeQp(bench, QpType.UD, more);
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: QKEY });
  qp.modify({ qpState: QpState.RTR });
  qp.modify({ qpState: QpState.RTS, sqPsn: 0 });
  return qp;
}

export function ahTo({ pd }: Bench, { context }: Bench): Ah {
  return pd.createAh({ grh: { dgid: context.queryGid(1, 0) } });
}

export function connectUc(qp: Qp, peer: QpBase): void {
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: ALL_ACCESS });
  qp.modify({ qpState: QpState.RTR, pathMtu: Mtu.MTU_1024, destQpNum: peer.qpNum, rqPsn: 0, ...routeTo(peer) });
  qp.modify({ qpState: QpState.RTS, sqPsn: 0 });
}

export function ucPair({ a, b }: Benches, cap: QpInitAttr['cap'] = {}): [Qp, Qp] {
  const first = makeQp(a, QpType.UC, { cap: { ...CAP, ...cap } });
  const second = makeQp(b, QpType.UC);
  connectUc(first, second);
  connectUc(second, first);
  return [first, second];
}

/** Brings the two ends of an extended reliable connection to where requests pass. */
export function connectXrc(initiator: QpBase, target: QpBase): void {
  const init = { qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: ALL_ACCESS };
  const reply = { maxDestRdAtomic: 16, minRnrTimer: 1 };
  for (const [qp, peer, more] of [
    [initiator, target, {}],
    [target, initiator, reply],
  ] as const) {
    qp.modify(init);
    const path = { pathMtu: Mtu.MTU_1024, destQpNum: peer.qpNum, rqPsn: 0, ...routeTo(peer) };
    qp.modify({ qpState: QpState.RTR, ...path, ...more });
  }
  initiator.modify({ qpState: QpState.RTS, timeout: 18, retryCnt: 7, rnrRetry: 7, sqPsn: 0, maxRdAtomic: 16 });
}

/** The PostError that `post` throws. */
export function postError(post: () => void): PostError {
  try {
    post();
  } catch (error) {
    if (error instanceof PostError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

function routeTo({ context }: QpBase): { readonly ahAttr: { readonly grh: { readonly dgid: Uint8Array } } } {
  return { ahAttr: { grh: { dgid: context.queryGid(1, 0) } } };
}
