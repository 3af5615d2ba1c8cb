/** The verbs API: what every provider implements, and what all of them share. */
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
export type { AsyncEvent, CqEvent, DeviceEvent, PortEvent, QpEvent } from './async-event.js';
export type { CompChannel, Cq, CqInitAttr } from './completion.js';
export type { Context, Device, GidEntry, HostKind, OpenOptions } from './context.js';
export { invalid, PostError, type Problem, refuse, VerbsError } from './errors.js';
export { explain, type Explainable } from './explain.js';
export { formatMicroseconds } from './explanations.js';
export type { AllocOptions, Mr, Pd, RegistrableMemory } from './memory.js';
export {
  accessProblem,
  capProblem,
  completeQpCap,
  cqeProblem,
  defaultQpCap,
  pieceOfRegionProblem,
} from './object-checks.js';
export { completeAhAttr, completeQpAttr, modifyProblem } from './qp-attributes.js';
export type { AhAttrInit, Qp, QpInitAttr, QpModifyAttr, QpQuery } from './queue-pair.js';
export { isAtomicAligned, queueFullProblem, recvProblem, sendProblem } from './request-checks.js';
export { Resource } from './resource.js';
export {
  hasOpcode,
  mayBeInline,
  opcodeProblem,
  type OpcodeRule,
  opcodeRules,
  recvStateProblem,
  sendStateProblem,
} from './send-rules.js';
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
  CompareAndSwapRequest,
  FetchAndAddRequest,
  InlineData,
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
} from './work-request.js';
