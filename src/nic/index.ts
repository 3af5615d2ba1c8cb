/** The software RNIC: sans-IO, deterministic, nothing of Node in it. */
export { CommandError } from './command-error.js';
export * from './layout.js';
export type { AllocMw, MrAttributes, MrKeys, MwKeys, ReregMr } from './memory/memory-table.js';
export type { CreateCq, CreateQp, CreateSrq, ModifySrq } from './control-verbs.js';
export type { GeneralServices, ManagementDatagram } from './datagram/general-services.js';
export { Nic } from './nic.js';
export type { ShownQp } from './queue-pair.js';
export { DEFAULT_PKEY, type PortChange, type PortStatus } from './port.js';
export { createRing, exchangeWord, isShared, readChanged, readWord, writeWord } from './ring-words.js';
export {
  DEFAULT_LIMITS,
  type MulticastGroups,
  type NicAsyncEvent,
  type NicConfig,
  type NicEvents,
  type NicLimits,
  type PacketSink,
  type SendFrame,
} from './ports.js';
