/** `verbena/sim`: hosts, links and failures on demand, for tests of programs that use RDMA. */
export type { Happening } from '../device/link/index.js';
export { administer } from '../providers/soft/index.js';
export type {
  LinkConditions,
  PacketHeader,
  SimulatedLinkOptions,
  SimulatedNetwork,
  SimulatedNetworkOptions,
  SimulatedPacket,
  Verdict,
} from '../device/link/index.js';
export type { PortChange } from '../device/adapter/index.js';
export { SimulatedCluster } from './cluster/simulated-cluster.js';
export type { SimPacket } from './capture.js';
export { SimHost, type HostState, type SimHostOptions } from './host.js';
export type { HostRef, PacketMatch } from './match.js';
export type { AckKind, CmName, NakName, OpcodeName, PacketFields } from './packet.js';
export type { HostRefs, PathMatch } from './paths.js';
export { Rule, type RuleMatch } from './rules.js';
export { type CaptureOptions, Sim, type SimOptions, type UntilOptions } from './sim.js';
export { simulate, type Scenario, type SimulateOptions } from './simulate.js';
export { StalledError } from './waiting.js';
