/** The verbs API: what every provider implements, and what all of them share. */
export type { Ah, AhAttrInit } from './address-handle.js';
export {
  type Address,
  highWord,
  isAddress,
  isU32,
  isWrId,
  joinWords,
  joinWordsNumber,
  lowWord,
  type WrId,
} from './address.js';
export type { AsyncEvent, CqEvent, DeviceEvent, PortEvent, QpEvent, SrqEvent } from './async-event.js';
export type { CompCntr, CompCntrInitAttr, QpAttachCompCntrAttr } from './completion-counter.js';
export type { CompChannel, Cq, CqInitAttr, CqModeration, CqModifyAttr } from './completion.js';
export type { Context, Device, GidEntry, HostKind, LinkKind, OpenOptions, RtValues } from './context.js';
export { invalid, PostError, type Problem, refuse, VerbsError } from './errors.js';
export { ahAttrFromWc, type GrhHeader, parseGrh, type ReverseAddress } from './grh.js';
export { incRkey, type Mw, type MwBind, type MwBindInfo } from './memory-window.js';
export type { AllocOptions, Mr, MrChange, RegistrableMemory } from './memory.js';
export type { ParentDomain, ParentDomainInitAttr, Td } from './parent-domain.js';
export type { Pd, RegMrOptions } from './protection-domain.js';
export type { Qp, QpBase, QpInitAttr, QpModifyAttr, QpQuery, QpRateLimit } from './queue-pair.js';
export { Resource } from './resource.js';
export type { SendBuilder } from './send-builder.js';
export type { Srq, SrqAttr, SrqInitAttr, SrqModifyAttr } from './shared-receive-queue.js';
export type { WorkCompletion } from './work-completion.js';
export type {
  AtomicCompareAndSwap,
  AtomicFetchAndAdd,
  AtomicWriteRequest,
  BindMwRequest,
  CompareAndSwapRequest,
  DatagramDestination,
  FetchAndAddRequest,
  FlushRequest,
  InlineData,
  LocalInvRequest,
  RdmaReadRequest,
  RdmaWriteRequest,
  RdmaWriteWithImmRequest,
  RecvWr,
  RemoteMemory,
  SendRequest,
  SendSge,
  SendWithImmRequest,
  SendWithInvRequest,
  SendWr,
  Sge,
  XrcDestination,
} from './work-request.js';
export type {
  XrcTargetQp,
  XrcTargetQpInitAttr,
  XrcTargetQpOpenAttr,
  XrcTargetQpQuery,
  Xrcd,
  XrcdInitAttr,
} from './xrc-domain.js';
export { ahInitProblem, ahProblem, completeAhAttr } from './checks/address-checks.js';
export { bindRequestProblem, mwTypeProblem } from './checks/bind-checks.js';
export { cqeProblem, cqFlagsProblem, cqInitProblem, moderationProblem } from './checks/cq-checks.js';
export { completeQpAttr, modifyInitProblem, modifyProblem } from './checks/qp-attributes.js';
export {
  hasReceiveQueue,
  qpInitProblem,
  rateLimitProblem,
  sendOpOf,
  sendOpProblem,
  sendOpsOf,
} from './checks/qp-checks.js';
export {
  accessProblem,
  adviseProblem,
  defaultIova,
  iovaProblem,
  pieceOfRegionProblem,
  reregFlagsOf,
  reregProblem,
} from './checks/region-checks.js';
export {
  bindMwProblem,
  datagramProblem,
  flushProblem,
  isAtomicAligned,
  queueFullProblem,
  recvProblem,
  sendProblem,
  srqRecvProblem,
  wrFlagsProblem,
  xrcProblem,
} from './checks/request-checks.js';
export {
  hasOpcode,
  mayBeInline,
  movesData,
  namesSharedQueue,
  opcodeProblem,
  type OpcodeRule,
  opcodeRules,
  recvStateProblem,
  sendStateProblem,
} from './checks/send-rules.js';
export { capProblem, completeQpCap, defaultQpCap } from './checks/sizes.js';
export { completeSrqInit, srqInitProblem, srqModifyProblem } from './checks/srq-checks.js';
export {
  bytesProblem,
  isList,
  isObject,
  listProblem,
  objectProblem,
  show,
  unsupported,
  wrIdProblem,
} from './checks/values.js';
export { type FieldsOf, fieldsProblem, nameAdvice } from './checks/fields.js';
export { openFields, openingFields } from './checks/open-checks.js';
export { openQpProblem, xrcdProblem } from './checks/xrc-checks.js';
export { adviceFor } from './text/advice.js';
export { explain, type Explainable } from './text/explain.js';
export { formatMicroseconds } from './text/explanations.js';
export {
  accessFlagsStr,
  adviseMrFlagsStr,
  createCqAttrFlagsStr,
  deviceCapFlagsStr,
  odpGeneralCapsStr,
  odpTransportCapsStr,
  placementTypeStr,
  qpAttrMaskStr,
  qpCreateFlagsStr,
  qpCreateSendOpsFlagsStr,
  rawPacketCapsStr,
  reregMrFlagsStr,
  sendFlagsStr,
  srqAttrMaskStr,
  wcExFlagsStr,
  wcFlagsStr,
  xrcdOpenFlagsStr,
} from './text/flag-strings.js';
export {
  adviseMrAdviceStr,
  atomicCapStr,
  eventTypeStr,
  gidTypeStr,
  linkLayerStr,
  migStateStr,
  mtuStr,
  mwTypeStr,
  nodeTypeStr,
  physStateStr,
  portStateStr,
  qpStateStr,
  qpTypeStr,
  rateStr,
  selectivityLevelStr,
  srqTypeStr,
  syndromeStr,
  transportTypeStr,
  wcOpcodeStr,
  wcStatusStr,
  wrOpcodeStr,
} from './text/strings.js';
