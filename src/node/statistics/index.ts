/** The counters of the NICs that run on this machine, for everybody to read. */
export { type PublishedQp, type PublishedStatistics, readStatistics, StatisticsFile } from './statistics-file.js';
