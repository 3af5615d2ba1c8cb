/** The adapter: the NIC, its connection manager and its link behind one table of commands, shared by many clients. */
export {
  activeMtu,
  Adapter,
  type AdapterChores,
  type AdapterUsers,
  LAST_VERBS,
  MAX_CLIENTS,
  namedCounters,
} from './adapter.js';
export { AdapterClient, type ClientLimits, type ClientParts, limitsOf } from './client.js';
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
export * from './shown-objects.js';
export { AsyncEventRing, createAsyncEventRing, createCmEventRing } from './event-ring.js';
