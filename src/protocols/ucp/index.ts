/** What UCX's UCP is to programs: `verbena/ucp`. */
export { type AmHandler, AmMessage, type AmSendOptions } from './am/index.js';
export {
  readUcpConfig,
  type TransportName,
  type UcpConfig,
  type UcpConfigValue,
  type UcpEnvironment,
} from './config/index.js';
export type {
  Protocol as UcpProtocol,
  RndvScheme,
  SizeRange as UcpProtocolRange,
  Thresholds,
} from './protocol/index.js';
export {
  type AtomicName,
  type AtomicOptions,
  type AtomicsBy,
  type MemMapOptions,
  type RkeyRights,
  UcpMemory,
  UcpRkey,
} from './rma/index.js';
export type { StreamReceiveOptions } from './stream/index.js';
export type { EndAddress } from './uct/index.js';
export { UcsStatus, type UcsStatusName, ucsStatusName } from './wire/index.js';
export type { TagValue } from './worker/arguments.js';
export { UcpEndpoint } from './worker/endpoint.js';
export type { UcpCapabilities, UcpEndpointAttributes } from './worker/endpoint-attributes.js';
export { UcpError } from './worker/errors.js';
export type { Pieces, UcpData } from './worker/pieces.js';
export { UcpDatatype, type UcpDatatypeOps, type UcpPacking, UcpTyped, type UcpUnpacking } from './worker/datatype.js';
export { type TagReceived, TakenMessage } from './worker/tag-receive.js';
export type { TagReceiveOptions } from './worker/tags.js';
export { type UcpClient, UcpListener, type UcpListenOptions } from './worker/listener.js';
export {
  type UcpAddressOptions,
  type UcpConnectOptions,
  UcpWorker,
  type UcpWorkerAttributes,
} from './worker/worker.js';
export type { UcpStatistics } from './worker/statistics.js';
export type { UcpWorkerOptions } from './worker/worker-options.js';
export type { WaitOptions } from '../core/index.js';
