/** The soft provider: the verbs API over a software NIC on a link, in this thread, in one of its own, or simulated. */
export { alloc } from './alloc.js';
export { getDeviceList, openDevice } from './device.js';
export type {
  LinkConditions,
  SimulatedLinkOptions,
  SimulatedNetwork,
  SimulatedNetworkOptions,
  SimulatedPacket,
} from '../link/index.js';
export { SimulatedCluster } from './simulated-cluster.js';
