/** The soft provider: the verbs API over a software NIC on a link, wherever that is hosted. */
export type {
  CmCommandTable,
  CmConnParam,
  CmEvent as CmDeviceEvent,
  CmParameters,
  CmQp,
  CmRequest,
  CmUdParam,
} from '../../device/cm/index.js';
export { Adapter } from './adapter/adapter.js';
export type { AdapterFacts, AdapterHost, LocatedMemory } from './adapter/adapter-host.js';
export { createCmEventRing } from './adapter/cm-event-ring.js';
export type { AdapterCommand, AdapterReply, Argument, Value, Verb } from './adapter/command.js';
export { namedCounters } from './adapter/counters.js';
export { createAsyncEventRing } from './adapter/event-ring.js';
export { administer } from './administer.js';
export type { PortChange } from './adapter/command.js';
export { type CmArgument, type CmDevice, cmDeviceOf, type CmValue, type CmVerb } from './driver/cm-device.js';
export { followCompChannel } from './driver/completions/completion-channel.js';
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
export { locateAcrossThreads, locateInThread, resolveMemory } from './memory-locator.js';
export { SimulatedCluster } from './simulated/simulated-cluster.js';
export { whatIsAwaited } from './simulated/simulated-report.js';
export { currentMachine, type Machine, setMachineFinder } from './machine.js';
export { startTimer } from './timer.js';
export { type EventFollower, type Following, Waiters } from './waiters.js';
