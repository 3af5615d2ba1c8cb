import type { QpModifyAttr } from '../../../../api/verbs/index.js';
import { attrMaskOf, QpAttrMask } from '../../../../device/ibta/index.js';
import { writeAhAttr } from './address-handle.js';
import { type Fields, writeFields } from './fields.js';

const QP_ATTR_BYTES = 144;
const MASK_AT = 0;
const AH_ATTR_AT = 40;

type Name = Exclude<keyof QpModifyAttr, 'ahAttr' | 'altAhAttr' | 'cap' | 'rateLimit'>;

const FIELDS: Fields<Name> = {
  qpState: { at: 4, bytes: 4 },
  curQpState: { at: 8, bytes: 4 },
  pathMtu: { at: 12, bytes: 4 },
  pathMigState: { at: 16, bytes: 4 },
  qkey: { at: 20, bytes: 4 },
  rqPsn: { at: 24, bytes: 4 },
  sqPsn: { at: 28, bytes: 4 },
  destQpNum: { at: 32, bytes: 4 },
  qpAccessFlags: { at: 36, bytes: 4 },
  pkeyIndex: { at: 124, bytes: 2 },
  altPkeyIndex: { at: 126, bytes: 2 },
  enSqdAsyncNotify: { at: 128, bytes: 1 },
  maxRdAtomic: { at: 130, bytes: 1 },
  maxDestRdAtomic: { at: 131, bytes: 1 },
  minRnrTimer: { at: 132, bytes: 1 },
  portNum: { at: 133, bytes: 1 },
  timeout: { at: 134, bytes: 1 },
  retryCnt: { at: 135, bytes: 1 },
  rnrRetry: { at: 136, bytes: 1 },
  altPortNum: { at: 137, bytes: 1 },
  altTimeout: { at: 138, bytes: 1 },
};

/** `struct ib_uverbs_qp_attr`: what leads a queue pair to a state, with the mask of what of it counts. */
export function encodeQpAttr(attr: QpModifyAttr): Buffer {
  const bytes = Buffer.alloc(QP_ATTR_BYTES);
  const { ahAttr, ...others } = attr;
  writeFields(FIELDS, bytes, 0, others);
  // Of the address only whether it is there counts for the mask.
  const mask = attrMaskOf(others) | (ahAttr === undefined ? 0 : QpAttrMask.AV);
  bytes.writeUInt32LE(mask, MASK_AT);
  if (ahAttr !== undefined) writeAhAttr(bytes, AH_ATTR_AT, ahAttr);
  return bytes;
}
