/** The vocabulary of the InfiniBand architecture and of verbs, as plain data: nothing here does anything. */
export { assert } from './assert.js';
export { attrFieldsOf, attrMaskOf, describeMask, qpAttrFields, QpAttrMask } from './queue-pairs/attr-mask.js';
export * from './queue-pairs/attributes.js';
export { CmEventType, PortSpace, PrivateDataBytes, RDMA_UDP_QKEY, RejectReason, SidrStatus } from './cm.js';
export * from './requests/cq.js';
export { AtomicCap, type DeviceAttr, DeviceCapFlags, NodeType, TransportType, EventType } from './device/device.js';
export * from './device/device-ex.js';
export { Errno, type ErrnoName, flagNames, nameOf } from './errno.js';
export { formatGid, type Gid, gidFromIp, gidsEqual, GidType, ipFromGid, isIpv4Gid, nodeGuid } from './gid.js';
export * from './memory/mr.js';
export { MwBindReason, MwType } from './memory/mw.js';
export * from './device/port.js';
export { PSN_MASK, psnAdd, psnDiff, psnNext } from './psn.js';
export type { AhAttr, GlobalRoute, QpAttr, QpCap } from './queue-pairs/qp-attr.js';
export { MigState, QpCreateFlags, QpCreateSendOpsFlags, QpState, QpType } from './queue-pairs/qp.js';
export { mbpsToRate, multToRate, Rate, rateToMbps, rateToMult } from './device/rate.js';
export { SrqAttrMask, SrqType, XrcdOpenFlags, XrcSrqReason } from './requests/srq.js';
export {
  DropReason,
  type Drops,
  type NamedMemory,
  type QpView,
  type Refusal,
  RefusalReason,
} from './requests/refusal.js';
export { Syndrome } from './requests/syndrome.js';
export * from './queue-pairs/transitions.js';
export { WcFlags, WcOpcode, WcStatus } from './requests/wc.js';
export { PlacementType, SelectivityLevel, SendFlags, WrOpcode } from './requests/wr.js';
