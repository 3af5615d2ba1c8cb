/** Verbena: RDMA without an RDMA NIC. */
export * from './rdmacm/index.js';
export * from './soft/index.js';
export * from './spec/index.js';
export * from './verbs/index.js';
// The room below has events of this name, too, which programs never see.
export type { CmEvent } from './rdmacm/index.js';
