import type { Cq } from '../../../api/verbs/index.js';

export interface CompletionHandler {
  /**
   * A request has completed, in whatever way. It is called within a poll: it may post, but not poll, and what it throws is a fault
   * of ours.
   *
   * @param cookie what {@link Requests.expect} was given
   * @param cq stands at the completion: `status`, `byteLen`, `immData` and the like are to be read from it before this returns
   */
  onCompletion(cookie: number, cq: Cq): void;

  /**
   * A request will not complete: its queue pair has ended, or the device is lost. Nobody touches its memory any more.
   *
   * @param cookie what {@link Requests.expect} was given
   */
  onLost(cookie: number): void;
}

/** Is told what became of the requests of one send queue, which may be unsignaled. */
export interface SendHandler extends CompletionHandler {
  /**
   * A request has been done of which no completion tells: one after it has completed, and a send queue is worked off in order (IBTA 9.9.1). As `onCompletion` it may
   * post, but not poll.
   *
   * @param cookie what {@link Requests.expect} was given
   */
  onDone(cookie: number): void;
}

/**
 * The requests of one queue pair, or of one shared receive queue: their numbers, and room for their completions. Each
 * {@link expect} is followed by one of {@link forget}, `onCompletion`, `onDone` and `onLost`, once.
 *
 * Every request must be SIGNALED (`sqSigAll` sees to that), but those of `Engine.sends`. An unsignaled one completes all the same when its queue pair fails,
 * so its number and its room are kept until a later one has completed.
 */
export interface Requests {
  readonly owner: string;
  /** How many may be under way. */
  readonly limit: number;
  /** How many are: expected, and not yet told to the handler. */
  readonly outstanding: number;

  /**
   * The number of a request that is about to be posted: its `wrId`. More than {@link limit} at a time is a fault of ours, since the
   * completion queue has room for so many.
   *
   * @param cookie anything of the handler's, as int32
   * @throws VerbsError EIO when the device was lost, EINVAL when they have ended
   */
  expect(cookie: number): number;

  /** The request was not posted after all. */
  forget(wrId: number): void;

  /** Changes {@link limit}, to no less than {@link outstanding}. @throws VerbsError ENOMEM beyond `EngineOptions.maxEntries` */
  resize(limit: number): void;

  /**
   * The queue pair was destroyed: the handler is told of all that is under way. Numbers and room are others' once no completion of it can be left in
   * the queue. Idempotent.
   */
  end(): void;
}
