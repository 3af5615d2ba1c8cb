import { nameOf } from '../errno.js';
import { describeMask, QpAttrMask } from './attr-mask.js';
import { QpState, QpType } from './qp.js';

/** What one transition asks of, and allows to, the caller, beside STATE itself: bits of `QpAttrMask`. */
export interface TransitionRule {
  readonly required: number;
  readonly optional: number;
}

export interface Transition {
  readonly from: QpState;
  readonly to: QpState;
  readonly rules: Readonly<Record<QpType, TransitionRule>>;
}

// The letters of the table in protocol/services.md 3.10, so that the two can be laid side by side.
const A = QpAttrMask.AV;
const M = QpAttrMask.PATH_MTU;
const D = QpAttrMask.DEST_QPN;
const Q = QpAttrMask.RQ_PSN;
const S = QpAttrMask.SQ_PSN;
const K = QpAttrMask.PKEY_INDEX;
const P = QpAttrMask.PORT;
const F = QpAttrMask.ACCESS_FLAGS;
const y = QpAttrMask.QKEY;
const R = QpAttrMask.MAX_DEST_RD_ATOMIC;
const r = QpAttrMask.MAX_QP_RD_ATOMIC;
const N = QpAttrMask.MIN_RNR_TIMER;
const T = QpAttrMask.TIMEOUT;
const c = QpAttrMask.RETRY_CNT;
const n = QpAttrMask.RNR_RETRY;
const L = QpAttrMask.ALT_PATH;
const G = QpAttrMask.PATH_MIG_STATE;
const C = QpAttrMask.CUR_STATE;
const E = QpAttrMask.EN_SQD_ASYNC_NOTIFY;
const rate = QpAttrMask.RATE_LIMIT;

/** One cell of the table: required, then optional. */
type Cell = readonly [required: number, optional: number];
const nothing: Cell = [0, 0];

function row(
  from: QpState,
  to: QpState,
  cells: { rc: Cell; uc: Cell; ud: Cell; xrcSend: Cell; xrcRecv: Cell; raw: Cell },
): Transition {
  const rule = ([required, optional]: Cell): TransitionRule => ({ required, optional });
  return {
    from,
    to,
    rules: {
      [QpType.RC]: rule(cells.rc),
      [QpType.UC]: rule(cells.uc),
      [QpType.UD]: rule(cells.ud),
      [QpType.XRC_SEND]: rule(cells.xrcSend),
      [QpType.XRC_RECV]: rule(cells.xrcRecv),
      [QpType.RAW_PACKET]: rule(cells.raw),
    },
  };
}

function bare(from: QpState, to: QpState): Transition {
  return row(from, to, { rc: nothing, uc: nothing, ud: nothing, xrcSend: nothing, xrcRecv: nothing, raw: nothing });
}

const { RESET, INIT, RTR, RTS, SQD, SQE, ERR } = QpState;

/** Every transition there is (protocol/services.md 3.10; IBTA 11.2.5.2); what is not in the list is not allowed. */
export const transitions: readonly Transition[] = [
  row(RESET, INIT, {
    rc: [K | P | F, 0],
    uc: [K | P | F, 0],
    ud: [K | P | y, 0],
    xrcSend: [K | P | F, 0],
    xrcRecv: [K | P | F, 0],
    raw: [P, 0],
  }),
  row(INIT, INIT, {
    rc: [0, K | P | F],
    uc: [0, K | P | F],
    ud: [0, K | P | y],
    xrcSend: [0, K | P | F],
    xrcRecv: [0, K | P | F],
    raw: nothing,
  }),
  row(INIT, RTR, {
    rc: [A | M | D | Q | R | N, L | F | K],
    uc: [A | M | D | Q, L | F | K],
    ud: [0, K | y],
    xrcSend: [A | M | D | Q, L | F | K],
    xrcRecv: [A | M | D | Q | R | N, L | F | K],
    raw: nothing,
  }),
  row(RTR, RTS, {
    rc: [T | c | n | S | r, C | L | F | N | G],
    uc: [S, C | L | F | G],
    ud: [S, C | y],
    xrcSend: [T | c | n | S | r, C | L | F | G],
    xrcRecv: [T | S, C | L | F | N | G],
    raw: [0, rate],
  }),
  row(RTS, RTS, {
    rc: [0, C | F | L | G | N],
    uc: [0, C | F | L | G],
    ud: [0, C | y],
    xrcSend: [0, C | F | L | G],
    xrcRecv: [0, C | F | L | G | N],
    raw: [0, rate],
  }),
  row(RTS, SQD, { rc: [0, E], uc: [0, E], ud: [0, E], xrcSend: [0, E], xrcRecv: [0, E], raw: nothing }),
  row(SQD, RTS, {
    rc: [0, C | L | F | N | G],
    uc: [0, C | L | F | G],
    ud: [0, C | y],
    xrcSend: [0, C | L | F | G],
    xrcRecv: [0, C | L | F | N | G],
    raw: nothing,
  }),
  row(SQD, SQD, {
    rc: [0, P | A | T | c | n | r | R | L | F | K | N | G],
    uc: [0, A | L | F | K | G],
    ud: [0, K | y],
    xrcSend: [0, P | A | T | c | n | r | L | F | K | G],
    xrcRecv: [0, P | A | T | R | L | F | K | N | G],
    raw: nothing,
  }),
  row(SQE, RTS, { rc: nothing, uc: [0, C | F], ud: [0, C | y], xrcSend: nothing, xrcRecv: nothing, raw: nothing }),
  ...[RESET, INIT, RTR, RTS, SQD, SQE, ERR].map((from) => bare(from, RESET)),
  // A QP in RESET has nothing that could be in error.
  ...[INIT, RTR, RTS, SQD, SQE, ERR].map((from) => bare(from, ERR)),
];

const indexed = new Map(transitions.map((transition) => [transition.from * 8 + transition.to, transition]));

/** What the transition asks and allows, or undefined when there is no such transition. */
export function transitionRule(type: QpType, from: QpState, to: QpState): TransitionRule | undefined {
  return indexed.get(from * 8 + to)?.rules[type];
}

const states = Object.values(QpState);

function orList(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words[words.length - 1]}`;
}

/**
 * Whether a QP of `type` may go from `from` to `to` with the attributes of `mask` (bits of `QpAttrMask`; STATE is
 * always allowed). RoCE has no alternate paths, so ALT_PATH is refused whatever the table says (protocol/services.md 3.10).
 *
 * @returns undefined when it may, else a sentence that says what is missing or too much
 */
export function checkTransition(type: QpType, from: QpState, to: QpState, mask: number): string | undefined {
  const rule = transitionRule(type, from, to);
  const typeName = nameOf(QpType, type);
  const fromName = nameOf(QpState, from);
  const toName = nameOf(QpState, to);
  if (rule === undefined) {
    const ways = states.filter((state) => transitionRule(type, from, state) !== undefined);
    const wayNames = orList(ways.map((state) => nameOf(QpState, state)));
    return from === to
      ? `no attribute of a QP in ${fromName} can be changed; it can go to ${wayNames}`
      : `a QP in ${fromName} cannot go to ${toName}, only to ${wayNames}`;
  }
  if ((mask & L) !== 0) return `${describeMask(L)} was given, but RoCE has no alternate paths`;
  const problems: string[] = [];
  const missing = rule.required & ~mask;
  const surplus = mask & ~(rule.required | rule.optional | QpAttrMask.STATE);
  if (missing !== 0) problems.push(`needs ${describeMask(missing)}`);
  if (surplus !== 0) problems.push(`does not allow ${describeMask(surplus)}`);
  if (problems.length === 0) return undefined;
  return `${fromName} to ${toName} of a QP of type ${typeName} ${problems.join(' and ')}`;
}
