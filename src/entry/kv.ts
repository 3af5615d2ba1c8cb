/** A key-value store over RDMA, for programs that run in Node. */
import '../node/hosting/index.js';

export {
  etcdMembership,
  type EtcdOptions,
  type EtcdRegistration,
  type EtcdRegistrationOptions,
  registerInEtcd,
} from '../protocols/kv/etcd/index.js';
export {
  type GatewayStore,
  type GatewayTotals,
  RedisGateway,
  type RedisGatewayOptions,
  serveRedis,
} from '../protocols/kv/gateway/index.js';
export * from '../protocols/kv/index.js';
