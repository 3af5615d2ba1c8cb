/** Queue pairs of every type, in every state; by the public API alone. */
import {
  type Context,
  type Cq,
  type Pd,
  type Qp,
  type QpBase,
  type QpInitAttr,
  type QpModifyAttr,
  QpState,
  QpType,
  SendFlags,
  VerbsError,
  WrOpcode,
  type XrcTargetQp,
} from '../../src/entry/index.js';
import { SimulatedCluster } from '../../src/entry/sim.js';
import { Belongings } from './sides.js';
import { handleTo, type End, pollOne, QKEY, toInit, toRtr, toRts, waitForState } from './support.js';

const { RESET, INIT, RTR, RTS, SQD, SQE, ERR } = QpState;

export const DOMAIN_TYPES = ['RC', 'UC', 'UD', 'RAW_PACKET', 'XRC_SEND'] as const;
export type DomainType = (typeof DOMAIN_TYPES)[number];
export type TypeName = keyof typeof QpType;

export const STATES: readonly QpState[] = Object.values(QpState);

const RAW_REFUSALS: readonly string[] = ['EPERM', 'EOPNOTSUPP'];

/** Whether this process may have raw packet QPs on the device, which takes a privilege (protocol/services.md 3.9). */
function allowsRawPackets(context: Context): boolean {
  const pd = context.allocPd();
  const cq = context.createCq({ cqe: 1 });
  try {
    pd.createQp({ qpType: QpType.RAW_PACKET, sendCq: cq, recvCq: cq }).destroy();
    return true;
  } catch (error) {
    if (!(error instanceof VerbsError) || !RAW_REFUSALS.includes(error.errno)) throw error;
    return false;
  } finally {
    cq.destroy();
    pd.dealloc();
  }
}

/** A device for queue pairs of `type`: the one given, or where that has no raw packet QPs a simulated one. */
export function deviceFor(type: TypeName, context: Context): Context {
  if (type !== 'RAW_PACKET' || allowsRawPackets(context)) return context;
  return new SimulatedCluster({ seed: 1 }).open('10.0.0.1');
}

/** What queue pairs are made from. They end with it. */
export class Workshop extends Belongings {
  readonly pd: Pd;
  readonly cq: Cq;

  constructor(readonly context: Context) {
    super();
    this.pd = this.keep(context.allocPd());
    this.cq = this.keep(context.createCq({ cqe: 64 }));
  }

  /** A queue pair of a type that domains have, in RESET. */
  make(type: DomainType, init: Partial<QpInitAttr> = {}): Qp {
    const { cq } = this;
    return this.keep(this.pd.createQp({ sendCq: cq, recvCq: cq, ...init, qpType: QpType[type] }));
  }

  makeAny(type: TypeName): QpBase {
    return type === 'XRC_RECV' ? this.makeTarget() : this.make(type);
  }

  makeTarget(): XrcTargetQp {
    return this.keep(this.keep(this.context.openXrcd()).createQp());
  }
}

/** The steps from RESET, of any type; the peer of the connected ones is the queue pair itself. */
function step(qp: QpBase, to: QpState): void {
  const datagrams = qp.qpType === QpType.UD || qp.qpType === QpType.RAW_PACKET;
  const self = { context: qp.context, qpNum: qp.qpNum };
  if (to === INIT) toInit(qp);
  else if (to === RTR && !datagrams) toRtr(qp, self);
  else if (to === RTS && !datagrams) toRts(qp);
  else if (to === RTS && qp.qpType === QpType.UD) qp.modify({ qpState: RTS, sqPsn: 0 });
  else qp.modify({ qpState: to });
}

const WAY: Readonly<Record<QpState, readonly QpState[]>> = {
  [RESET]: [],
  [INIT]: [INIT],
  [RTR]: [INIT, RTR],
  [RTS]: [INIT, RTR, RTS],
  [SQD]: [INIT, RTR, RTS, SQD],
  [SQE]: [INIT, RTR, RTS],
  [ERR]: [INIT, ERR],
};

/** Brings a queue pair from any state to `state`, which must not be SQE. */
export function bringTo(qp: QpBase, state: QpState): void {
  qp.modify({ qpState: RESET });
  for (const next of WAY[state]) step(qp, next);
}

/** Lets the send queue of an unreliable queue pair fail: its pieces have a key that nothing has. */
export function failSending(end: End): void {
  const request = { opcode: WrOpcode.SEND, sgList: [{ ...end.mr.sge(0, 8), lkey: 0 }] } as const;
  const ud = { ah: handleTo(end, end), remoteQpn: end.qp.qpNum, remoteQkey: QKEY };
  end.qp.postSend({ ...request, sendFlags: SendFlags.SIGNALED, ...(end.qp.qpType === QpType.UD ? { ud } : {}) });
  pollOne(end.cq);
  waitForState(end.qp, SQE);
}

/** The letters of protocol/services.md 3.10; X is RATE_LIMIT, and cap is an attribute of no transition. */
export const LETTERS = [
  ...(['A', 'M', 'D', 'Q', 'S', 'K', 'P', 'F', 'y', 'R', 'r', 'N', 'T', 'c', 'n', 'L', 'G', 'C', 'E', 'X'] as const),
  'cap',
] as const;
export type Letter = (typeof LETTERS)[number];

/** What each of them stands for, with a value that it can have. */
export function attributeOf(letter: Letter, context: Context, state: QpState): QpModifyAttr {
  const values: Readonly<Record<Letter, QpModifyAttr>> = {
    A: { ahAttr: { grh: { dgid: context.queryGid(1, 0), trafficClass: 3 } } },
    M: { pathMtu: 2 },
    D: { destQpNum: 77 },
    Q: { rqPsn: 12 },
    S: { sqPsn: 13 },
    K: { pkeyIndex: 0 },
    P: { portNum: 1 },
    F: { qpAccessFlags: 6 },
    y: { qkey: 0x22 },
    R: { maxDestRdAtomic: 3 },
    r: { maxRdAtomic: 4 },
    N: { minRnrTimer: 5 },
    T: { timeout: 6 },
    c: { retryCnt: 2 },
    n: { rnrRetry: 3 },
    L: { altPortNum: 1 },
    G: { pathMigState: 0 },
    C: { curQpState: state },
    E: { enSqdAsyncNotify: 1 },
    X: { rateLimit: 5000 },
    cap: { cap: { maxSendWr: 1, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1, maxInlineData: 0 } },
  };
  return values[letter];
}

export function attributesOf(letters: readonly Letter[], context: Context, state: QpState): QpModifyAttr {
  return letters.reduce<QpModifyAttr>((whole, letter) => ({ ...whole, ...attributeOf(letter, context, state) }), {});
}
