/** Sessions with requests and messages over RDMA, for programs that run in Node. */
import './machine/hosting/index.js';

export * from './portable-xio.js';
