/** The counters of the NICs that run on this machine, for everybody to read. */
export { readStatistics } from './statistics.js';
export { type PublishedQp, type PublishedStatistics, StatisticsFile } from './statistics-file.js';
