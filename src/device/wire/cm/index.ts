/** The connection manager's messages, and what rdma_cm puts into them. */
export * from './messages.js';
export { CM_PRIVATE_DATA_BYTES } from './layouts.js';
export { CM_CLASS_VERSION, decodeCmMessage, encodeCmMessage } from './codec.js';
export {
  CMA_HEADER_BYTES,
  type CmaHeader,
  type RdmaService,
  readCmaHeader,
  serviceId,
  splitServiceId,
  writeCmaHeader,
} from './cma-header.js';
