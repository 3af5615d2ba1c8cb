/** What UCX's UCP is to programs: `verbena/ucp`. */
export { type AmHandler } from './am/ams.js';
export { AmMessage } from './am/am-message.js';
export { type AmSendOptions } from './am/am-end.js';
export { readUcpConfig, type UcpEnvironment } from './config/read-config.js';
export { type TransportName } from './config/values.js';
export { type UcpConfig, type UcpConfigValue } from './config/settings.js';
export type {
  Protocol as UcpProtocol,
  RndvScheme,
  SizeRange as UcpProtocolRange,
  Thresholds,
} from './protocol/index.js';
export { type AtomicName, type AtomicOptions } from './rma/rma-end.js';
export { type AtomicsBy, type RkeyRights, UcpRkey } from './rma/rkey.js';
export { type MemMapOptions } from './rma/memories.js';
export { UcpMemory } from './rma/memory.js';
export type { StreamReceiveOptions } from './stream/stream-end.js';
export type { EndAddress } from './uct/index.js';
export { UcsStatus, type UcsStatusName, ucsStatusName } from './wire/index.js';
export type { TagValue, Pieces, UcpData } from './worker/pieces.js';
export { UcpEndpoint } from './worker/endpoint.js';
export type { UcpCapabilities, UcpEndpointAttributes } from './worker/endpoint-attributes.js';
export { UcpError } from './worker/errors.js';
export { UcpDatatype, type UcpDatatypeOps, type UcpPacking, UcpTyped, type UcpUnpacking } from './worker/datatype.js';
export { type TagReceived, TakenMessage } from './worker/tag-receive.js';
export type { TagReceiveOptions } from './worker/tags.js';
export { type UcpClient, UcpListener, type UcpListenOptions } from './worker/listener.js';
export * from './worker/worker.js';
export type { UcpStatistics } from './worker/statistics.js';
export type { UcpWorkerOptions } from './worker/worker-options.js';
export type { WaitOptions } from '../core/index.js';
