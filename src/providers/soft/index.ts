/** The soft provider: the verbs API over a software NIC on a link, wherever that is hosted. */
export type { AdapterClient, ClientLimits, ClientParts } from '../../device/adapter/client.js';
export { Adapter, MAX_CLIENTS, type AdapterParts, type AdapterUsers } from '../../device/adapter/adapter.js';
export type { AdapterChores } from '../../device/adapter/chores.js';
export type { AdapterFacts, AdapterHost, LocatedMemory } from './adapter-host.js';
export { createCmEventRing } from '../../device/adapter/cm-event-ring.js';
export type { AdapterCommand, AdapterReply, Argument, BytesRef, MemoryRef, Value, Verb } from '../../device/adapter/command.js';
export { namedCounters } from '../../device/adapter/counters.js';
export { createAsyncEventRing } from '../../device/adapter/event-ring.js';
export { administer } from './administer.js';
export type { PortChange } from '../../device/adapter/command.js';
export type {
  LinkConditions,
  SimulatedLinkOptions,
  SimulatedNetwork,
  SimulatedNetworkOptions,
  PacketHeader,
  SimulatedPacket,
  Verdict,
} from '../../device/link/index.js';
export { SoftContext } from './driver/context.js';
export { DEVICE_NAME, NODE_TYPE, nodeGuid, TRANSPORT_TYPE } from './driver/device-facts.js';
export { explain, refusalReason } from './explanations/explain.js';
export { locateInThread, MEMORY_REMEDY, refuseResizable, SyntheticAddresses } from './memory-locator.js';
export { openFor } from './open-for.js';
export { registerMemory, type RegisterMemoryOptions } from './register-memory.js';
export { openShared } from './shared-devices.js';
export { SimulatedCluster } from '../../sim/cluster/simulated-cluster.js';
export { whatIsAwaited } from '../../sim/cluster/simulated-report.js';
export type { CompletionRing } from './driver/completions/completion-ring.js';
export type { WorkRing } from './driver/posting/work-ring.js';
export {
  addressHandleOf,
  completionAt,
  completionRing,
  modifyPrivileged,
  type QpRings,
  qpRings,
  sharedReceiveRing,
  takeAsyncEvent,
  watchCompletionQueue,
  watchQueuePair,
  watchSharedReceiveQueue,
} from './driver/rings.js';
