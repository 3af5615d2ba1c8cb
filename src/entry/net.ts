/** `node:net` over RDMA, for programs that run in Node. What programs may lean on stands here name by name. */
import '../node/hosting/index.js';

export * from '../protocols/net/index.js';
