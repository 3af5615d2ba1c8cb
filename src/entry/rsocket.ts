/** Sockets over RDMA, on the wire of librdmacm's rsockets, for programs that run in Node. */
import '../node/hosting/index.js';

export * from '../protocols/rsocket/index.js';
