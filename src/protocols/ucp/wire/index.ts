/** What UCP's ends say to each other, byte for byte: pure functions. */
export { AM_IDS, AmId, type AmIdName, AtomicOp, type AtomicOpName, isAtomicOp } from './am-id.js';
export type { Bare, Format, WithForeignKeys, WithPayload, WithRkey, WithSize, WithUserHeader } from './format.js';
export { AM_HEADER, AmFlags, amSingleIn, Feet, Heads, operandsOf, RtsOpcode } from './headers.js';
export * from './introduction.js';
export { amHeaderOf, messageName, type MessageName, type MessageOf, Messages } from './messages.js';
export * from './rkey.js';
export * from './statuses.js';
export {
  decodeUdControl,
  encodeUdControl,
  MAX_UD_CONTROL_BYTES,
  MAX_UD_SEGMENT_BYTES,
  MIN_UD_SEGMENT_BYTES,
  type UdConnectReply,
  type UdConnectRequest,
  type UdControl,
  UdControlType,
  type UdGone,
  type UdSelf,
} from './ud-control.js';
export { type UcxQueuePair, ucxQueuePairs } from './ucx-address.js';
export { decodeUcxControl, decodeUcxPut, type UcxConnectReply, type UcxConnectRequest } from './ucx-control.js';
export { UcxMessages, WireupType } from './ucx-messages.js';
export * from './ud-header.js';
export * from './worker-address.js';
