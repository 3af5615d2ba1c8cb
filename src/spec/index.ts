/** The vocabulary of the InfiniBand architecture and of verbs, as plain data: nothing here does anything. */
export { ACCESS_OPTIONAL_RANGE, AccessFlags } from './access.js';
export { attrMaskOf, describeMask, qpAttrFields, QpAttrMask } from './attr-mask.js';
export { type AttributeRange, attributeRanges, checkAhAttr, checkAttributes, isOneOf } from './attributes.js';
export { AtomicCap, type DeviceAttr, DeviceCapFlags, NodeType, TransportType } from './device.js';
export { Errno, type ErrnoName } from './errno.js';
export { EventType } from './event.js';
export { formatGid, type Gid, gidFromIp, gidsEqual, GidType, ipFromGid, isIpv4Gid } from './gid.js';
export { Mtu, mtuBytes, mtuFromBytes } from './mtu.js';
export { flagNames, nameOf } from './names.js';
export { LinkLayer, PhysState, type PortAttr, PortState } from './port.js';
export { PSN_MASK, psnAdd, psnDiff, psnNext } from './psn.js';
export type { AhAttr, GlobalRoute, QpAttr, QpCap } from './qp-attr.js';
export { MigState, QpState, QpType } from './qp.js';
export { Syndrome } from './syndrome.js';
export { ackTimeoutUs, rnrTimerUs } from './timers.js';
export { checkTransition, type Transition, transitionRule, type TransitionRule, transitions } from './transitions.js';
export { WcFlags, WcOpcode, WcStatus } from './wc.js';
export { SendFlags, WrOpcode } from './wr.js';
