/** A key-value store over RDMA, for programs that run in Node. */
import '../node/hosting/index.js';

export * from '../protocols/kv/etcd/index.js';
export * from '../protocols/kv/gateway/index.js';
export * from '../protocols/kv/index.js';
