/** The connection manager: IB CM on queue pair 1 as rdma_cm speaks it, sans-IO, deterministic, nothing of Node in it. */
export { CmError } from './checks.js';
export type * from './command.js';
export { ConnectionManager } from './connection-manager.js';
export { type CmIdState, isDatagramSpace, type ShownCmId } from './tables/identifier.js';
export {
  CmClient,
  type Commands,
  type CmClientHost,
  type CmDatagram,
  type CmHost,
  type CmLimits,
  type CmTimers,
  DEFAULT_CM_LIMITS,
  type Refusal,
} from './host.js';
