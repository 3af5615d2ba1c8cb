/** What has come by tags. The names are UCX's (ucp_worker_t's statistics, ucp/core/ucp_worker.c) where UCX has such. */
export interface TagCounters {
  /** Messages that came without being announced, and not by a synchronous send. */
  rxEagerMsg: number;
  /** The same by a synchronous send. */
  rxSyncMsg: number;
  /** Messages, or parts of one, for which a receive was there. */
  rxEagerChunkExp: number;
  /** Those for which there was none, so that they were kept. */
  rxEagerChunkUnexp: number;
  /** Bytes of both. */
  rxEagerBytes: number;
  /** Messages that were announced, and for which a receive was there. */
  rxRndvRtsExp: number;
  /** Those for which there was none. */
  rxRndvRtsUnexp: number;
}

/** All 0. */
export function tagCounters(): TagCounters {
  return {
    rxEagerMsg: 0,
    rxSyncMsg: 0,
    rxEagerChunkExp: 0,
    rxEagerChunkUnexp: 0,
    rxEagerBytes: 0,
    rxRndvRtsExp: 0,
    rxRndvRtsUnexp: 0,
  };
}
