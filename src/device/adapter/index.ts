/** The adapter: the NIC, its connection manager and its link behind one table of commands, shared by many clients. */
export { activeMtu, Adapter, type AdapterUsers, LAST_VERBS, MAX_CLIENTS } from './adapter.js';
export type { AdapterChores } from './chores.js';
export { limitsOf } from './client-limits.js';
export { AdapterClient, type ClientLimits, type ClientParts } from './client.js';
export { createCmEventRing } from './cm-event-ring.js';
export type {
  AdapterCommand,
  AdapterReply,
  Argument,
  BytesRef,
  EndVerb,
  MemoryRef,
  PortChange,
  Value,
  Verb,
} from './command.js';
export { namedCounters } from './counters.js';
export { AsyncEventRing, createAsyncEventRing } from './event-ring.js';
