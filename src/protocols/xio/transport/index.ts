/** The seam to transports: links, by which ends of sessions talk. */
export {
  type Clock,
  type Exposure,
  type Held,
  type InUse,
  type Link,
  type LinkGrant,
  type LinkReceiver,
  type Move,
  type Scheme,
  TOKEN_BYTES,
} from './link.js';
export {
  type DeviceOptions,
  type LinkListener,
  type LinkOptions,
  type LinkPlace,
  type LinkTarget,
  type Transport,
  transportOf,
  useTransport,
  XioError,
  type XioErrorOptions,
  XioRejectedError,
} from './transport.js';
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
