/** Memory of other workers: put, get, atomics, by the adapter or by messages. */
export { Memories, type MemMapOptions } from './memories.js';
export { UcpMemory } from './memory.js';
export { type AtomicName, atomicNames, type AtomicOptions, RmaEnd } from './rma-end.js';
export { type AtomicsBy, type RkeyRights, UcpRkey } from './rkey.js';
