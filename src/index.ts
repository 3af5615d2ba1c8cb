/** Verbena: RDMA without an RDMA NIC. */
export * from './rdmacm/index.js';
export {
  administer,
  alloc,
  getDeviceList,
  type LinkConditions,
  openDevice,
  type PacketHeader,
  type PortChange,
  type PublishedQp,
  type PublishedStatistics,
  readStatistics,
  SimulatedCluster,
  type SimulatedLinkOptions,
  type SimulatedNetwork,
  type SimulatedNetworkOptions,
  type SimulatedPacket,
  type Verdict,
} from './soft/index.js';
export * from './spec/index.js';
export * from './verbs/index.js';
