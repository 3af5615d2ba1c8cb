/** One end of a stream of rsockets, without I/O. */
export type { Announcement, Offers } from './mappings.js';
export { CONTROL_SLOTS, LOW_WATER, MAX_CHUNK, MAX_QUEUE, MIN_QUEUE, SEQUENCE_MASK } from './limits.js';
export { type Ending, PHASES, type Phase } from './phases.js';
export * from './protocol.js';
