/** The soft provider: the verbs API over a software NIC on a link, wherever that is hosted. */
export type { AdapterFacts, AdapterHost, LocatedMemory } from './adapter-host.js';
export { administer } from './administer.js';
export { dropsOf, explainAmong, openFor, SoftContext } from './driver/context.js';
export { DEVICE_NAME, NODE_TYPE, TRANSPORT_TYPE } from './driver/device-facts.js';
export { explain, refusalReason } from './explanations/explain.js';
export * from './memory-locator.js';
export { registerMemory, type RegisterMemoryOptions } from './register-memory.js';
export { openShared } from './shared-devices.js';
export type { CompletionRing } from './driver/completions/completion-ring.js';
export type { WorkRing } from './driver/posting/work-ring.js';
export * from './driver/rings.js';
