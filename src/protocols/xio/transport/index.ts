/** The seam to transports: links, by which ends of sessions talk. */
export * from './link.js';
export * from './transport.js';
export { rdmaTransport } from './rdma/rdma-transport.js';
// What is said on links by RDMA, for those who read captures.
export {
  decodeFrame,
  decodePlaces,
  decodeToken,
  emptyFrame,
  Operation,
  PREFIX_BYTES as RDMA_PREFIX_BYTES,
} from './rdma/frame.js';
export { decodePlace as decodeGrantedPlace, SEAL_BYTES } from './rdma/grants.js';
export { decodeHello as decodeRdmaHello } from './rdma/hello.js';
