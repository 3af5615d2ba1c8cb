/** What a store holds, kept on disk: a log of changes, and snapshots. What it writes to is given from outside. */
export type { Journal, Refusal } from './journal.js';
export { persist, persistIn } from './open-persistence.js';
export { checkPolicy, type PersistenceSettings, type SyncPolicy } from './options.js';
export { Persistence, type PersistenceStatistics } from './persistence.js';
