import type { Answered, RequestView } from '../wire/index.js';

/** Carries requests out: the store. */
export interface Executor {
  /**
   * @param roomBytes of a value that fits the answer
   * @returns what is answered, which is read before the next call. Never throws for what a client asks
   */
  execute(request: RequestView, roomBytes: number): Answered;
  /** The longest value that it takes. */
  readonly maxValueBytes: number;
}

export interface ServerCounters {
  requests: number;
  /** Requests that were answered again. */
  repeats: number;
  /** Requests that came after a later one of their slot. */
  old: number;
  /** Messages that are no requests, or were written over before they were read. */
  malformed: number;
  /** Requests of another session than comes this way, or from that place, or of a slot that it does not have. */
  forged: number;
  epochs: number;
  /** Changes that were refused, or taken back, because the disk fails or is full. */
  unlogged: number;
  /** Values that were read from a client's memory, or written there. */
  transfers: number;
  /** Those that could not be: the client has gone, or there was no such memory. */
  brokenTransfers: number;
}
