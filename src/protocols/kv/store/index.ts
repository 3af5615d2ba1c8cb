/** One partition of a key-value store, in memory, without I/O and without a clock. */
export { BUCKET_BYTES, tagOf } from './bucket-index.js';
export { ALIGNMENT, EntryView, MAX_KEY_BYTES, MIN_ENTRY_BYTES, Reading } from './entry.js';
export { type KeyHash, partitionOf, saltOf, SipHash } from './key-hash.js';
export { type KeyRequest, Operation, type OperationRules, operationRules } from './operation.js';
export { MAX_COUNT, MAX_MEMORY, type Mode, type PartitionOptions } from './options.js';
export { type Changes, type Explanation, parseInteger, Partition } from './partition.js';
export { Span } from './span.js';
export type { Statistics } from './storage.js';
export { Status, type StatusRules, statusRules } from './status.js';
