/** Verbena: RDMA without an RDMA NIC. */
import '../node/hosting/index.js';

export * from './portable.js';
export { type PublishedQp, type PublishedStatistics, readStatistics } from '../node/statistics/index.js';
