/** What a partition has done since it was made. */
export class Statistics {
  /** GET and HAS that found the key. */
  hits = 0;
  misses = 0;
  /** Values that were set, by whichever operation. */
  sets = 0;
  deletes = 0;
  /** Keys that had to go for others, in cache mode. */
  evictions = 0;
  /** Keys whose time had come, counted when that is noticed. */
  expirations = 0;
  /** Operations refused with NO_SPACE. */
  refusals = 0;
  /** Keys that are there, also those that have expired and were not yet noticed. */
  keys = 0;
  /** What their entries take. */
  bytes = 0;
}
