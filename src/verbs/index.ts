/** The verbs API: what every provider implements, and what all of them share. */
export type { Ah, AhAttrInit } from './address-handle.js';
export { adviceFor } from './advice.js';
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
export type { CompChannel, Cq, CqInitAttr, CqModeration, CqModifyAttr } from './completion.js';
export type { Context, Device, GidEntry, HostKind, OpenOptions, RtValues } from './context.js';
export { invalid, PostError, type Problem, refuse, VerbsError } from './errors.js';
export { explain, type Explainable } from './explain.js';
export { formatMicroseconds } from './explanations.js';
export type { AllocOptions, Mr, MrChange, RegistrableMemory } from './memory.js';
export { incRkey, type Mw, type MwBind, type MwBindInfo } from './memory-window.js';
export {
  accessProblem,
  capProblem,
  completeQpCap,
  cqeProblem,
  defaultQpCap,
  pieceOfRegionProblem,
} from './object-checks.js';
export type { ParentDomain, ParentDomainInitAttr, Td } from './parent-domain.js';
export type { Pd, RegMrOptions } from './protection-domain.js';
export { completeAhAttr, completeQpAttr, modifyProblem } from './qp-attributes.js';
export type { Qp, QpBase, QpInitAttr, QpModifyAttr, QpQuery, QpRateLimit } from './queue-pair.js';
export { isAtomicAligned, queueFullProblem, recvProblem, sendProblem } from './request-checks.js';
export { Resource } from './resource.js';
export type { SendBuilder } from './send-builder.js';
export {
  hasOpcode,
  mayBeInline,
  opcodeProblem,
  type OpcodeRule,
  opcodeRules,
  recvStateProblem,
  sendStateProblem,
} from './send-rules.js';
export type { Srq, SrqAttr, SrqInitAttr, SrqModifyAttr } from './shared-receive-queue.js';
export {
  atomicCapStr,
  eventTypeStr,
  linkLayerStr,
  migStateStr,
  mtuStr,
  nodeTypeStr,
  physStateStr,
  portStateStr,
  qpStateStr,
  qpTypeStr,
  transportTypeStr,
  wcOpcodeStr,
  wcStatusStr,
  wrOpcodeStr,
} from './strings.js';
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
