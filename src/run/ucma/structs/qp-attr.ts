import type { QpModifyAttr } from '../../../api/verbs/index.js';
import { attrMaskOf, QpAttrMask } from '../../../device/ibta/index.js';
import { AH_ATTR, destinationOf } from '../../structs/addresses.js';
import { nested, struct, u16, u32, u8, type ValuesOf, type Writable } from '../../../device/wire/index.js';

/** `struct ib_uverbs_qp_attr`. */
export const QP_ATTR = struct(
  {
    mask: u32(0),
    qpState: u32(4),
    curQpState: u32(8),
    pathMtu: u32(12),
    pathMigState: u32(16),
    qkey: u32(20),
    rqPsn: u32(24),
    sqPsn: u32(28),
    destQpNum: u32(32),
    qpAccessFlags: u32(36),
    ahAttr: nested(40, AH_ATTR),
    pkeyIndex: u16(124),
    altPkeyIndex: u16(126),
    enSqdAsyncNotify: u8(128),
    maxRdAtomic: u8(130),
    maxDestRdAtomic: u8(131),
    minRnrTimer: u8(132),
    portNum: u8(133),
    timeout: u8(134),
    retryCnt: u8(135),
    rnrRetry: u8(136),
    altPortNum: u8(137),
    altTimeout: u8(138),
  },
  144,
);

/** What leads a queue pair to a state, with the mask of what of it counts. */
export function qpAttrFor({ ahAttr, ...others }: QpModifyAttr): Writable<ValuesOf<typeof QP_ATTR>> {
  const mask = attrMaskOf(others);
  if (ahAttr === undefined) return { ...others, mask };
  return { ...others, mask: mask | QpAttrMask.AV, ahAttr: destinationOf(ahAttr) };
}
