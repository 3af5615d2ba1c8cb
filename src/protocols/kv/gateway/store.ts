import type { KvClient } from '../client/kv-client.js';

/** What a gateway asks of a store: what its commands need of a client. */
export type GatewayStore = Pick<
  KvClient,
  | 'keepsOrder'
  | 'get'
  | 'entry'
  | 'has'
  | 'set'
  | 'add'
  | 'cas'
  | 'delete'
  | 'incr'
  | 'touch'
  | 'ttl'
  | 'scanPage'
  | 'serverStatistics'
>;
