/** The verbs API: what every provider implements, and what all of them share. */
export type { Address, WrId } from './address.js';
export type { AsyncEvent, CqEvent, DeviceEvent, PortEvent, QpEvent } from './async-event.js';
export type { CompChannel, Cq, CqInitAttr } from './completion.js';
export type { Context, Device, GidEntry, HostKind, OpenOptions } from './context.js';
export type { AllocOptions, Mr, Pd, RegistrableMemory } from './memory.js';
export type { AhAttrInit, Qp, QpInitAttr, QpModifyAttr, QpQuery } from './queue-pair.js';
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
