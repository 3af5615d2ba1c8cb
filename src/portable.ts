/** Verbena in a page of a browser: all of it but the machine. Devices are those of simulations (`verbena/sim`). */
export * from './api/rdmacm/index.js';
export { alloc, getDeviceList, openDevice } from './api/provider/index.js';
export {
  administer,
  explain,
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
