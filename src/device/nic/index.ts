/** The software RNIC: sans-IO, deterministic, nothing of Node in it. */
export { CommandError } from './command-error.js';
export * from './rings/layout.js';
export {
  atomicResult,
  type AtomicOperation,
  type Copy,
  type CopyProgress,
  type ForeignMemory,
  LATER,
} from './memory/copying/foreign-memory.js';
export { isResizable } from './memory/region-memory.js';
export type { AllocMw, MrAttributes, MrKeys, MwKeys, ReregMr } from './memory/memory-table.js';
export type { Doorbells } from './queues/doorbells.js';
export type { CompletionQueueWatcher, QueuePairWatcher, WorkQueueWatcher } from './queues/watchers.js';
export type { CreateCq, CreateQp, CreateSrq, ModifySrq } from './control/control-verbs.js';
export type { GeneralServices, ManagementDatagram } from './datagram/general-services.js';
export { Nic } from './nic.js';
export type { ShownQp } from './queue-pairs/queue-pair.js';
export { DEFAULT_PKEY, type PortChange, type PortStatus } from './port/port.js';
export { createRing, exchangeWord, isShared, readChanged, readWord, writeWord } from './rings/ring-words.js';
export * from './nic-config.js';
