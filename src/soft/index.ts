/** The soft provider: the verbs API over a software NIC on a link, in this thread, in one of its own, or simulated. */
export type {
  CmCommandTable,
  CmConnParam,
  CmEvent as CmDeviceEvent,
  CmParameters,
  CmQp,
  CmRequest,
  CmUdParam,
} from '../cm/index.js';
export { administer } from './administer.js';
export { alloc } from './alloc.js';
export type { PortChange } from './command.js';
export { type CmArgument, type CmDevice, cmDeviceOf, type CmValue, type CmVerb } from './driver/cm-device.js';
export { followCompChannel } from './driver/completion-channel.js';
export { getDeviceList, openDevice } from './device.js';
export type {
  LinkConditions,
  SimulatedLinkOptions,
  SimulatedNetwork,
  SimulatedNetworkOptions,
  PacketHeader,
  SimulatedPacket,
  Verdict,
} from '../link/index.js';
export { SimulatedCluster } from './simulated-cluster.js';
export { whatIsAwaited } from './simulated-report.js';
export { currentMachine, type Machine, setMachineFinder } from './machine.js';
export { readStatistics } from './statistics.js';
export type { PublishedQp, PublishedStatistics } from './statistics-file.js';
export { startTimer } from './timer.js';
export { type EventFollower, type Following, Waiters } from './waiters.js';
