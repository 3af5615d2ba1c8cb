/** The vocabulary of the InfiniBand architecture and of verbs, as plain data: nothing here does anything. */
export { ACCESS_OPTIONAL_RANGE, AccessFlags } from './access.js';
export { attrMaskOf, describeMask, qpAttrFields, QpAttrMask } from './attr-mask.js';
export { type AttributeRange, attributeRanges, checkAhAttr, checkAttributes, isOneOf } from './attributes.js';
export { CmEventType, PortSpace, PrivateDataBytes, RDMA_UDP_QKEY, RejectReason, SidrStatus } from './cm.js';
export { CreateCqAttrFlags, WC_STANDARD_FLAGS, WcExFlags } from './cq.js';
export { AtomicCap, type DeviceAttr, DeviceCapFlags, NodeType, TransportType } from './device.js';
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
} from './device-ex.js';
export { Errno, type ErrnoName } from './errno.js';
export { EventType } from './event.js';
export { PlacementType, SelectivityLevel } from './flush.js';
export { formatGid, type Gid, gidFromIp, gidsEqual, GidType, ipFromGid, isIpv4Gid } from './gid.js';
export { AdviseMrAdvice, AdviseMrFlags, ReregMrFlags } from './mr.js';
export { Mtu, mtuBytes, mtuFromBytes } from './mtu.js';
export { MwBindReason, MwType } from './mw.js';
export { flagNames, nameOf } from './names.js';
export { LinkLayer, PhysState, type PortAttr, portSpeed, PortState } from './port.js';
export { PSN_MASK, psnAdd, psnDiff, psnNext } from './psn.js';
export type { AhAttr, GlobalRoute, QpAttr, QpCap } from './qp-attr.js';
export { QpCreateFlags, QpCreateSendOpsFlags } from './qp-create.js';
export { MigState, QpState, QpType } from './qp.js';
export { mbpsToRate, multToRate, Rate, rateToMbps, rateToMult } from './rate.js';
export { SrqAttrMask, SrqType } from './srq.js';
export { Syndrome } from './syndrome.js';
export { ackTimeoutUs, rnrTimerUs } from './timers.js';
export { checkTransition, type Transition, transitionRule, type TransitionRule, transitions } from './transitions.js';
export { WcFlags, WcOpcode, WcStatus } from './wc.js';
export { SendFlags, WrOpcode } from './wr.js';
export { XrcdOpenFlags, XrcSrqReason } from './xrc.js';
