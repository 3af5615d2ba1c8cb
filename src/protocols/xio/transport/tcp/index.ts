/** Links over TCP, by node:net: for where there is no RDMA. */
export { tcp } from './transport.js';
