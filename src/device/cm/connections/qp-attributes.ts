import {
  AccessFlags,
  type AhAttr,
  attrMaskOf,
  type Mtu,
  type QpAttr,
  QpAttrMask,
  QpState,
  QpType,
  RDMA_UDP_QKEY,
  transitionRule,
} from '../../ibta/index.js';

/**
 * How long a peer waits when it finds no receive request: 0.64 ms. Linux sets 0 here, which means 655 ms (protocol/packets.md 1.4);
 * a program that is a moment late would pay for it.
 */
const MIN_RNR_TIMER = 12;

/** What the two sides have agreed on for the queue pair. */
export interface Agreement {
  readonly to: AhAttr;
  readonly pathMtu: Mtu;
  readonly remoteQpn: number;
  /** First PSN that we expect, and that we send. */
  readonly localPsn: number;
  readonly remotePsn: number;
  readonly responderResources: number;
  readonly initiatorDepth: number;
  readonly ackTimeout: number;
  readonly retryCount: number;
  readonly rnrRetryCount: number;
}

/** What a queue pair of a connection lets its peer do (protocol/connections.md 4.6). */
export function accessOf(responderResources: number): number {
  const { REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC, FLUSH_GLOBAL, FLUSH_PERSISTENT } = AccessFlags;
  if (responderResources === 0) return REMOTE_WRITE;
  return REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC | FLUSH_GLOBAL | FLUSH_PERSISTENT;
}

/** The attributes that each transition of a connected queue pair takes from the agreement. */
const attributesOf: Readonly<Partial<Record<QpState, (agreement: Agreement) => Partial<QpAttr>>>> = {
  [QpState.INIT]: ({ responderResources }) => ({
    qpState: QpState.INIT,
    pkeyIndex: 0,
    portNum: 1,
    qpAccessFlags: accessOf(responderResources),
  }),
  [QpState.RTR]: (agreement) => ({
    qpState: QpState.RTR,
    ahAttr: agreement.to,
    pathMtu: agreement.pathMtu,
    destQpNum: agreement.remoteQpn,
    rqPsn: agreement.localPsn,
    maxDestRdAtomic: agreement.responderResources,
    minRnrTimer: MIN_RNR_TIMER,
    qpAccessFlags: accessOf(agreement.responderResources),
  }),
  [QpState.RTS]: (agreement) => ({
    qpState: QpState.RTS,
    sqPsn: agreement.remotePsn,
    timeout: agreement.ackTimeout,
    retryCnt: agreement.retryCount,
    rnrRetry: agreement.rnrRetryCount,
    maxRdAtomic: agreement.initiatorDepth,
  }),
};

/** The states of a connected queue pair, each with the one before it. */
const before: Readonly<Partial<Record<QpState, QpState>>> = {
  [QpState.INIT]: QpState.RESET,
  [QpState.RTR]: QpState.INIT,
  [QpState.RTS]: QpState.RTR,
};

/**
 * The attributes that lead a queue pair of a connection to a state: of those that the agreement has, the ones that the
 * type has (protocol/services.md 3.10). Undefined for a state that the connection manager leads nobody to.
 */
export function connectedAttributes(type: QpType, to: QpState, agreement: Agreement): Partial<QpAttr> | undefined {
  const from = before[to];
  const attributes = attributesOf[to];
  if (from === undefined || attributes === undefined) return undefined;
  const rule = transitionRule(type, from, to);
  const allowed = rule === undefined ? 0 : rule.required | rule.optional | QpAttrMask.STATE;
  const all = attributes(agreement);
  if ((attrMaskOf(all) & ~allowed) === 0) return all;
  const kept = Object.entries(all).filter(([name]) => (attrMaskOf({ [name]: 0 }) & allowed) !== 0);
  return Object.fromEntries(kept);
}

/** The attributes of a queue pair that has no peer yet. */
export function initialAttributes(type: QpType): Partial<QpAttr> {
  const attributes = { qpState: QpState.INIT, pkeyIndex: 0, portNum: 1 };
  return type === QpType.UD ? { ...attributes, qkey: RDMA_UDP_QKEY } : { ...attributes, qpAccessFlags: accessOf(0) };
}
