/** A key-value store over RDMA: clients and servers. */
export { connectCluster, type KvClusterOptions } from './cluster/connect-cluster.js';
export { type KvCalls, KvCluster, type KvClusterMember } from './cluster/kv-cluster.js';
export type { KvMember, KvMembership } from './cluster/member.js';
export { connect } from './client/connect.js';
export { KvClient, type KvClientStatistics } from './client/kv-client.js';
export type { KvEntry, KvExplanation, KvPage } from './client/response-decoders.js';
export type { Bytes, DeleteOptions, KvConnectOptions, KvSetting, ScanOptions, SetOptions } from './client/options.js';
export type { KvOneSidedStatistics } from './client/one-sided/one-sided-reader.js';
export type { TransportName } from './client/transports.js';
export type { WaitOptions } from '../core/index.js';
export { EpochError, KvError, KvManyError, type Outcome } from './errors.js';
export { type KvPersistence, type KvPersistenceOptions, openPersistence } from './kv-persistence.js';
export type {
  PersistenceStatistics as KvPersistenceStatistics,
  SyncPolicy as KvSyncPolicy,
} from './persistence/index.js';
export { createStore, type KvMode, type KvStore, type KvStoreOptions, type KvStoreStatistics } from './kv-store.js';
export { KvServer, type KvServerStatistics, serve } from './server/kv-server.js';
export type { KvServeOptions } from './server/options.js';
