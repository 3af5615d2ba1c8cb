/** One partition of a key-value store, in memory, without I/O and without a clock. */
export type { Changes } from './changes.js';
export { EntryView, MAX_KEY_BYTES, Reading } from './entry.js';
export { parseInteger } from './integer-text.js';
export { type KeyHash, partitionOf, SipHash } from './key-hash.js';
export { type KeyRequest, Operation, type OperationRules, operationRules } from './operation.js';
export type { Mode, PartitionOptions } from './options.js';
export { type Explanation, Partition } from './partition.js';
export { Span } from './span.js';
export type { Statistics } from './statistics.js';
export { Status, type StatusRules, statusRules } from './status.js';
