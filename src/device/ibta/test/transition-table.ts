import { QpAttrMask, QpState, QpType } from '../index.js';

/** The table of protocol/services.md 3.10 in its own letters, copied cell by cell and read independently of the source. */
const columns = [QpType.RC, QpType.UC, QpType.UD, QpType.XRC_SEND, QpType.XRC_RECV] as const;

type Kind = 'req' | 'opt';

const rows: readonly (readonly [from: keyof typeof QpState, to: keyof typeof QpState, Kind, ...string[]])[] = [
  ['RESET', 'INIT', 'req', 'K P F', 'K P F', 'K P y', 'K P F', 'K P F'],
  ['INIT', 'INIT', 'opt', 'K P F', 'K P F', 'K P y', 'K P F', 'K P F'],
  ['INIT', 'RTR', 'req', 'A M D Q R N', 'A M D Q', '', 'A M D Q', 'A M D Q R N'],
  ['INIT', 'RTR', 'opt', 'L F K', 'L F K', 'K y', 'L F K', 'L F K'],
  ['RTR', 'RTS', 'req', 'T c n S r', 'S', 'S', 'T c n S r', 'T S'],
  ['RTR', 'RTS', 'opt', 'C L F N G', 'C L F G', 'C y', 'C L F G', 'C L F N G'],
  ['RTS', 'RTS', 'opt', 'C F L G N', 'C F L G', 'C y', 'C F L G', 'C F L G N'],
  ['RTS', 'SQD', 'opt', 'E', 'E', 'E', 'E', 'E'],
  ['SQD', 'RTS', 'opt', 'C L F N G', 'C L F G', 'C y', 'C L F G', 'C L F N G'],
  ['SQD', 'SQD', 'opt', 'P A T c n r R L F K N G', 'A L F K G', 'K y', 'P A T c n r L F K G', 'P A T R L F K N G'],
  ['SQE', 'RTS', 'opt', '', 'C F', 'C y', '', ''],
];

const letters: Readonly<Record<string, number>> = {
  A: QpAttrMask.AV,
  M: QpAttrMask.PATH_MTU,
  D: QpAttrMask.DEST_QPN,
  Q: QpAttrMask.RQ_PSN,
  S: QpAttrMask.SQ_PSN,
  K: QpAttrMask.PKEY_INDEX,
  P: QpAttrMask.PORT,
  F: QpAttrMask.ACCESS_FLAGS,
  y: QpAttrMask.QKEY,
  R: QpAttrMask.MAX_DEST_RD_ATOMIC,
  r: QpAttrMask.MAX_QP_RD_ATOMIC,
  N: QpAttrMask.MIN_RNR_TIMER,
  T: QpAttrMask.TIMEOUT,
  c: QpAttrMask.RETRY_CNT,
  n: QpAttrMask.RNR_RETRY,
  L: QpAttrMask.ALT_PATH,
  G: QpAttrMask.PATH_MIG_STATE,
  C: QpAttrMask.CUR_STATE,
  E: QpAttrMask.EN_SQD_ASYNC_NOTIFY,
};

const maskOf = (cell: string): number =>
  cell
    .split(' ')
    .filter((letter) => letter !== '')
    .reduce((mask, letter) => mask | letters[letter], 0);

export interface Expected {
  readonly required: number;
  readonly optional: number;
}

const expectations = new Map<string, Expected>();
const keyOf = (type: QpType, from: QpState, to: QpState): string => `${type}/${from}/${to}`;

for (const [from, to, kind, ...cells] of rows) {
  columns.forEach((type, i) => {
    const key = keyOf(type, QpState[from], QpState[to]);
    const sofar = expectations.get(key) ?? { required: 0, optional: 0 };
    const mask = maskOf(cells[i]);
    expectations.set(key, kind === 'req' ? { ...sofar, required: mask } : { ...sofar, optional: mask });
  });
}

// RAW_PACKET: RESET to INIT needs P only, RATE_LIMIT from RTR and RTS to RTS; all that exist for the others exist here.
for (const [from, to] of rows) {
  const rate = to === 'RTS' && (from === 'RTR' || from === 'RTS');
  expectations.set(keyOf(QpType.RAW_PACKET, QpState[from], QpState[to]), {
    required: from === 'RESET' ? QpAttrMask.PORT : 0,
    optional: rate ? QpAttrMask.RATE_LIMIT : 0,
  });
}

// Any to RESET, any but RESET to ERR: nothing but STATE.
for (const type of [...columns, QpType.RAW_PACKET]) {
  for (const from of Object.values(QpState)) {
    expectations.set(keyOf(type, from, QpState.RESET), { required: 0, optional: 0 });
    if (from !== QpState.RESET) expectations.set(keyOf(type, from, QpState.ERR), { required: 0, optional: 0 });
  }
}

/** What the table says of a transition, or undefined when it is not in it. */
export function expectedRule(type: QpType, from: QpState, to: QpState): Expected | undefined {
  return expectations.get(keyOf(type, from, to));
}

export const allTypes = Object.values(QpType);
export const allStates = Object.values(QpState);
export const allBits = Object.entries(QpAttrMask);

/** Every type with every pair of states. */
export function* everyPair(): Generator<[type: QpType, from: QpState, to: QpState]> {
  for (const type of allTypes) for (const from of allStates) for (const to of allStates) yield [type, from, to];
}
