import type { QpAttr } from './qp-attr.js';

/** Bits of `enum ibv_qp_attr_mask`. */
export const QpAttrMask = {
  STATE: 1 << 0,
  CUR_STATE: 1 << 1,
  EN_SQD_ASYNC_NOTIFY: 1 << 2,
  ACCESS_FLAGS: 1 << 3,
  PKEY_INDEX: 1 << 4,
  PORT: 1 << 5,
  QKEY: 1 << 6,
  AV: 1 << 7,
  PATH_MTU: 1 << 8,
  TIMEOUT: 1 << 9,
  RETRY_CNT: 1 << 10,
  RNR_RETRY: 1 << 11,
  RQ_PSN: 1 << 12,
  MAX_QP_RD_ATOMIC: 1 << 13,
  ALT_PATH: 1 << 14,
  MIN_RNR_TIMER: 1 << 15,
  SQ_PSN: 1 << 16,
  MAX_DEST_RD_ATOMIC: 1 << 17,
  PATH_MIG_STATE: 1 << 18,
  CAP: 1 << 19,
  DEST_QPN: 1 << 20,
  RATE_LIMIT: 1 << 25,
} as const;

/** The bit that says that a field is meant. `sqDraining` has none: it can be queried, never set. */
const maskOfField: Readonly<Record<keyof QpAttr, number>> = {
  qpState: QpAttrMask.STATE,
  curQpState: QpAttrMask.CUR_STATE,
  pathMtu: QpAttrMask.PATH_MTU,
  pathMigState: QpAttrMask.PATH_MIG_STATE,
  qkey: QpAttrMask.QKEY,
  rqPsn: QpAttrMask.RQ_PSN,
  sqPsn: QpAttrMask.SQ_PSN,
  destQpNum: QpAttrMask.DEST_QPN,
  qpAccessFlags: QpAttrMask.ACCESS_FLAGS,
  cap: QpAttrMask.CAP,
  ahAttr: QpAttrMask.AV,
  altAhAttr: QpAttrMask.ALT_PATH,
  pkeyIndex: QpAttrMask.PKEY_INDEX,
  altPkeyIndex: QpAttrMask.ALT_PATH,
  enSqdAsyncNotify: QpAttrMask.EN_SQD_ASYNC_NOTIFY,
  sqDraining: 0,
  maxRdAtomic: QpAttrMask.MAX_QP_RD_ATOMIC,
  maxDestRdAtomic: QpAttrMask.MAX_DEST_RD_ATOMIC,
  minRnrTimer: QpAttrMask.MIN_RNR_TIMER,
  portNum: QpAttrMask.PORT,
  timeout: QpAttrMask.TIMEOUT,
  retryCnt: QpAttrMask.RETRY_CNT,
  rnrRetry: QpAttrMask.RNR_RETRY,
  altPortNum: QpAttrMask.ALT_PATH,
  altTimeout: QpAttrMask.ALT_PATH,
  rateLimit: QpAttrMask.RATE_LIMIT,
};

/** Every attribute's name. */
export const qpAttrFields: readonly (keyof QpAttr)[] = Object.keys(maskOfField) as (keyof QpAttr)[]; // the record above has exactly these keys

/** The `attr_mask` that goes with `attr`: the bits of the fields that are present. */
export function attrMaskOf(attr: Partial<QpAttr>): number {
  let mask = 0;
  for (const field of qpAttrFields) if (attr[field] !== undefined) mask |= maskOfField[field];
  return mask;
}

/** The fields that the bits of an `attr_mask` mean. */
export function attrFieldsOf(mask: number): readonly (keyof QpAttr)[] {
  return qpAttrFields.filter((field) => (maskOfField[field] & mask) !== 0);
}

/** The attributes of a mask by name and field, as a list to read: `IBV_QP_DEST_QPN (destQpNum), IBV_QP_RQ_PSN (rqPsn)`. */
export function describeMask(mask: number): string {
  return Object.entries(QpAttrMask)
    .filter(([, bit]) => (mask & bit) !== 0)
    .map(([name, bit]) => {
      const field = qpAttrFields.find((candidate) => maskOfField[candidate] === bit);
      return field === undefined ? `IBV_QP_${name}` : `IBV_QP_${name} (${field})`;
    })
    .join(', ');
}
