/** Verbena: RDMA without an RDMA NIC. */
export * from './rdmacm/index.js';
export * from './soft/index.js';
export * from './spec/index.js';
export * from './verbs/index.js';
