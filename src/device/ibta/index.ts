/** The vocabulary of the InfiniBand architecture and of verbs, as plain data: nothing here does anything. */
export { ACCESS_OPTIONAL_RANGE, AccessFlags } from './memory/access.js';
export { assert } from './assert.js';
export { attrFieldsOf, attrMaskOf, describeMask, qpAttrFields, QpAttrMask } from './queue-pairs/attr-mask.js';
export {
  type AttributeRange,
  attributeRanges,
  checkAhAttr,
  checkAttributes,
  isOneOf,
} from './queue-pairs/attributes.js';
export { CmEventType, PortSpace, PrivateDataBytes, RDMA_UDP_QKEY, RejectReason, SidrStatus } from './cm.js';
export { type CompCntrCaps, CompCntrType, QpAttachCompCntrOp } from './requests/comp-cntr.js';
export { CreateCqAttrFlags, WC_STANDARD_FLAGS, WcExFlags } from './requests/cq.js';
export { AtomicCap, type DeviceAttr, DeviceCapFlags, NodeType, TransportType } from './device/device.js';
export {
  type CqModerationCaps,
  type DeviceAttrEx,
  type OdpCaps,
  OdpGeneralCaps,
  OdpTransportCaps,
  type PacketPacingCaps,
  type PciAtomicCaps,
  RawPacketCaps,
  type RssCaps,
  type TmCaps,
  type TsoCaps,
} from './device/device-ex.js';
export { Errno, type ErrnoName } from './errno.js';
export { EventType } from './event.js';
export { PlacementType, SelectivityLevel } from './requests/flush.js';
export { formatGid, type Gid, gidFromIp, gidsEqual, GidType, ipFromGid, isIpv4Gid } from './gid.js';
export type { DeviceMemoryPlace } from './memory/device-memory-place.js';
export { AdviseMrAdvice, AdviseMrFlags, ReregMrFlags } from './memory/mr.js';
export { nodeGuid } from './device/node-guid.js';
export { Mtu, mtuBytes, mtuFromBytes } from './device/mtu.js';
export { MwBindReason, MwType } from './memory/mw.js';
export { flagNames, nameOf } from './names.js';
export { LinkLayer, PhysState, type PortAttr, portSpeed, PortState } from './device/port.js';
export { PSN_MASK, psnAdd, psnDiff, psnNext } from './psn.js';
export type { AhAttr, GlobalRoute, QpAttr, QpCap } from './queue-pairs/qp-attr.js';
export { QpCreateFlags, QpCreateSendOpsFlags } from './queue-pairs/qp-create.js';
export { MigState, QpState, QpType } from './queue-pairs/qp.js';
export { mbpsToRate, multToRate, Rate, rateToMbps, rateToMult } from './device/rate.js';
export { SrqAttrMask, SrqType } from './requests/srq.js';
export { Syndrome } from './requests/syndrome.js';
export { ackTimeoutUs, rnrTimerUs } from './timers.js';
export {
  checkTransition,
  type Transition,
  transitionRule,
  type TransitionRule,
  transitions,
} from './queue-pairs/transitions.js';
export { WcFlags, WcOpcode, WcStatus } from './requests/wc.js';
export { SendFlags, WrOpcode } from './requests/wr.js';
export { XrcdOpenFlags, XrcSrqReason } from './xrc.js';
