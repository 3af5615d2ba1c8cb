import { type TagCounters, tagCounters } from '../protocol/index.js';

export interface Counters extends TagCounters {
  /** Messages that were sent by tags, before the receiver had asked for them. */
  txEager: number;
  /** The same by synchronous sends. */
  txEagerSync: number;
  /** Bytes of both. */
  txEagerBytes: number;
  /** Messages that were announced by tags, synchronous ones included. */
  txRndv: number;
  /** Active messages that were sent with their data. */
  txAmEager: number;
  txAmRndv: number;
  /** Bytes of data of those that were sent with it. */
  txAmBytes: number;
  /** Active messages that came with all of their data, or with the last of it, and that a handler was there for. */
  rxAmMsg: number;
  rxAmRndvRts: number;
  /** Bytes of data of those that came with it. */
  rxAmBytes: number;
  /** Rendezvous whose data this end reads. */
  rndvGetZcopy: number;
  rndvPutZcopy: number;
  /** Those whose data this end sends by messages. */
  rndvAm: number;
  /** Bytes that have gone by rendezvous, as the receivers say, of tags and active messages. */
  txRndvBytes: number;
  rxRndvBytes: number;
  /** Calls that have sent bytes of streams. */
  txStream: number;
  txStreamBytes: number;
  /** Messages in which bytes of streams have come. */
  rxStreamChunk: number;
  rxStreamBytes: number;
  put: number;
  putBytes: number;
  get: number;
  getBytes: number;
  /** Atomics that were begun, fetching ones included. */
  atomic: number;
  /** Puts, or parts of one, that peers have asked for by messages. What they do by RDMA the adapter counts. */
  rxPut: number;
  /** Gets likewise. */
  rxGet: number;
  /** Atomics likewise. */
  rxAtomic: number;
  rkeyUnpack: number;
  flush: number;
  fence: number;
  /** Sends by tags, streams and active messages that had to wait for room. */
  pending: number;
  epCreations: number;
  /** Attempts to make one that have come to nothing. */
  epCreationFailures: number;
  /** Endpoints that have failed, the peer's end of them included. */
  epFailures: number;
  /** Endpoints that were closed here. */
  epClosures: number;
}

/** What a worker has counted since it was made. Where UCX counts the same, the name is its own: of `ucp_worker`, `ucp_ep` and `uct_ep` in `UCX_STATS_DEST`. */
export type UcpStatistics = Readonly<Counters>;

/** All 0. */
export function newCounters(): Counters {
  return {
    ...tagCounters(),
    txEager: 0,
    txEagerSync: 0,
    txEagerBytes: 0,
    txRndv: 0,
    txAmEager: 0,
    txAmRndv: 0,
    txAmBytes: 0,
    rxAmMsg: 0,
    rxAmRndvRts: 0,
    rxAmBytes: 0,
    rndvGetZcopy: 0,
    rndvPutZcopy: 0,
    rndvAm: 0,
    txRndvBytes: 0,
    rxRndvBytes: 0,
    txStream: 0,
    txStreamBytes: 0,
    rxStreamChunk: 0,
    rxStreamBytes: 0,
    put: 0,
    putBytes: 0,
    get: 0,
    getBytes: 0,
    atomic: 0,
    rxPut: 0,
    rxGet: 0,
    rxAtomic: 0,
    rkeyUnpack: 0,
    flush: 0,
    fence: 0,
    pending: 0,
    epCreations: 0,
    epCreationFailures: 0,
    epFailures: 0,
    epClosures: 0,
  };
}
