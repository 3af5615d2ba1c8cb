/** A key-value store over RDMA, for programs that run in Node. */
import './machine/hosting/index.js';

export * from './portable-kv.js';
