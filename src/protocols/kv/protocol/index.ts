/** Both sides of the key-value store's protocol, as machines without I/O and without a clock. */
export { ClientWindow, NOT_SENT, type Outstanding } from './client-window.js';
export { LOSSY, LOSSY_MEMORY, RELIABLE, type RepeatRules, RttEstimator } from './repeats.js';
export type { Executor, ServerCounters } from './executor.js';
export { Arrival, ReplyCache } from './reply-cache.js';
export { ServerMachine } from './server-machine.js';
export * from './sessions.js';
export { type ExecutorInit, StoreExecutor } from './store-executor.js';
export { WaitingLine } from './waiting-line.js';
export { type Grant, type TransferLimits, Transfers } from './transfers.js';
