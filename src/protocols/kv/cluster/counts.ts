import type { KvClientStatistics } from '../client/kv-client.js';

export const NO_COUNTS: KvClientStatistics = {
  repeats: 0,
  unmatchedResponses: 0,
  foreign: 0,
  resumptions: 0,
  oneSided: undefined,
};

/** What two have counted. */
export function sumOf(a: KvClientStatistics, b: KvClientStatistics): KvClientStatistics {
  return {
    repeats: a.repeats + b.repeats,
    unmatchedResponses: a.unmatchedResponses + b.unmatchedResponses,
    foreign: a.foreign + b.foreign,
    resumptions: a.resumptions + b.resumptions,
    oneSided: ofReads(a.oneSided, b.oneSided),
  };
}

type Reads = KvClientStatistics['oneSided'];

function ofReads(a: Reads, b: Reads): Reads {
  if (a === undefined || b === undefined) return a ?? b;
  return {
    reads: a.reads + b.reads,
    torn: a.torn + b.torn,
    hits: a.hits + b.hits,
    fallbacks: a.fallbacks + b.fallbacks,
  };
}
