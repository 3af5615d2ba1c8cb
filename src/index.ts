/** Verbena: RDMA without an RDMA NIC. */
export * from './api/rdmacm/index.js';
export { getDeviceList, openDevice } from './api/provider/index.js';
export {
  administer,
  type LinkConditions,
  type PacketHeader,
  type PortChange,
  SimulatedCluster,
  type SimulatedLinkOptions,
  type SimulatedNetwork,
  type SimulatedNetworkOptions,
  type SimulatedPacket,
  type Verdict,
} from './api/soft/index.js';
export * from './api/verbs/index.js';
export * from './device/ibta/index.js';
export { alloc } from './machine/hosting/index.js';
export { type PublishedQp, type PublishedStatistics, readStatistics } from './machine/statistics/index.js';
