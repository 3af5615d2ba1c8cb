/** What a store holds, kept on disk: a log of changes, and snapshots. What it writes to is given from outside. */
export { persist, persistIn } from './open-persistence.js';
export { checkPolicy, type PersistenceSettings, type SyncPolicy } from './options.js';
export { type Journal, Persistence, type PersistenceStatistics, type Refusal } from './persistence.js';
