/** The verbs API: what every provider implements, and what all of them share. */
export { CmEventType, EventType, type Named, WcOpcode, WcStatus } from './text/named-constants.js';
export * from './address.js';
export { DeviceMemoryBase } from './device-memory-base.js';
export { invalid, PostError, type Problem, problemOf, refuse, VerbsError } from './errors.js';
export { ahAttrFromWc, type GrhHeader, parseGrh, type ReverseAddress } from './grh.js';
export { namesOfHolders, Resource } from './resource.js';
export type { WorkCompletion } from './work-completion.js';
export type { AhAttrInit, QpModifyAttr, QpRateLimit } from './objects/queue-pair.js';
export type { CqModeration, CqModifyAttr } from './objects/completion.js';
export type { CompCntrInitAttr, QpAttachCompCntrAttr } from './objects/completion-counter.js';
export type { GidEntry, RtValues } from './objects/context.js';
export * from './objects/objects.js';
export type { DeviceMemoryPlace } from '../../device/ibta/index.js';
export { type AllocOptions, incRkey, type RegistrableMemory, type RegMrOptions } from './objects/memory.js';
export type { HostChoice, HostKind, LinkKind, OpenOptions, SharedDevice } from './objects/open-options.js';
export type {
  SrqAttr,
  SrqModifyAttr,
  XrcdInitAttr,
  XrcTargetQpInitAttr,
  XrcTargetQpOpenAttr,
} from './objects/shared-receive-queue.js';
export type {
  AtomicCompareAndSwap,
  AtomicFetchAndAdd,
  AtomicWriteRequest,
  CompareAndSwapRequest,
  FetchAndAddRequest,
  FlushRequest,
  InlineData,
  LocalInvRequest,
  RdmaReadRequest,
  RdmaWriteRequest,
  RdmaWriteWithImmRequest,
  RecvWr,
  RemoteMemory,
  SendSge,
  SendWithInvRequest,
  Sge,
  XrcDestination,
} from './objects/work-request.js';
export { ahInitProblem, ahProblem, completeAhAttr } from './checks/address-checks.js';
export { bindRequestProblem, mwTypeProblem } from './checks/bind-checks.js';
export { cqeProblem, cqFlagsProblem, cqInitProblem, moderationProblem } from './checks/cq-checks.js';
export { completeQpAttr, modifyInitProblem, modifyProblem } from './checks/qp-attributes.js';
export * from './checks/qp-checks.js';
export * from './checks/region-checks.js';
export * from './checks/request-checks.js';
export * from './checks/send-rules.js';
export { capProblem, completeQpCap, defaultQpCap } from './checks/sizes.js';
export { completeSrqInit, openQpProblem, srqInitProblem, srqModifyProblem, xrcdProblem } from './checks/srq-checks.js';
export {
  bytesProblem,
  isList,
  isObject,
  listProblem,
  objectProblem,
  countProblem,
  show,
  unsupported,
  wrIdProblem,
} from './checks/values.js';
export * from './checks/fields.js';
export { adviceFor, type ExplainableEvent, explainEvent } from './text/advice.js';
export { type Explainable, explainStatus } from './text/status-advice.js';
export * from './text/flag-strings.js';
export * from './text/strings.js';
