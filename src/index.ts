/** Verbena: RDMA without an RDMA NIC. */
import './machine/hosting/index.js';

export * from './portable.js';
export { type PublishedQp, type PublishedStatistics, readStatistics } from './machine/statistics/index.js';
