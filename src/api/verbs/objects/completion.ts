import type { WcOpcode, WcStatus } from '../../../device/ibta/index.js';
import type { WorkCompletion } from '../work-completion.js';

/** How far events of a CQ may be held back (`struct ibv_moderate_cq`). */
export interface CqModeration {
  /** An event waits until so many completions have come, 0 to `CqModerationCaps.maxCqCount`; 0 and 1 do not wait. */
  readonly cqCount: number;
  /** Microseconds after which it waits no longer, 0 to `CqModerationCaps.maxCqPeriod`. */
  readonly cqPeriod: number;
}

/** What of a CQ can change (`struct ibv_modify_cq_attr`). */
export interface CqModifyAttr {
  readonly moderate: CqModeration;
}

/**
 * The calls of a completion queue that name no other object. Reading it is reading memory. There are two styles: {@link poll} makes an
 * object per completion; {@link startPoll} to {@link endPoll} (after `ibv_start_poll`) makes none.
 *
 * A queue that is not emptied in time overruns: the completion is lost, CQ_ERR is raised, and the QP goes to ERR
 * (protocol/services.md 3.8). One that was made with IGNORE_OVERRUN just loses the completion.
 */
export interface CqCalls extends Disposable {
  /** Completions that the queue can hold: at least what was asked for. */
  readonly cqe: number;
  readonly cqContext: unknown;

  /**
   * Takes up to `numEntries` completions, oldest first (`ibv_poll_cq`); none when there is none. Does not wait.
   *
   * @param numEntries at least 1; default 16
   * @throws VerbsError EINVAL when `numEntries` is not a positive integer, between startPoll and endPoll, or after
   *   destroy; EIO once the queue was overrun and what was left is read
   */
  poll(numEntries?: number): WorkCompletion[];

  /**
   * Arms one event on the channel for the next completion that comes (`ibv_req_notify_cq`). Completions that are
   * already there raise none, so: arm, poll until empty, then wait (protocol/services.md 3.8).
   *
   * @param solicitedOnly only for a completion whose sender asked for it (`SendFlags.SOLICITED`) or one in error;
   *   arming both ways leaves "any" in force
   * @throws VerbsError EINVAL when the queue has no channel
   */
  reqNotify(solicitedOnly?: boolean): void;

  /**
   * Says that `count` events, default 1, that named this queue have been dealt with (`ibv_ack_cq_events`).
   *
   * @throws VerbsError EINVAL when fewer are unacknowledged
   */
  ackEvents(count?: number): void;

  /** Moves to the oldest completion, or returns false when there is none; then {@link endPoll} must not be called. */
  startPoll(): boolean;
  /** Moves to the next completion, or returns false when there is none. */
  nextPoll(): boolean;
  /** Gives the entries that were read back to the NIC. */
  endPoll(): void;

  /**
   * Makes the queue longer or shorter (`ibv_resize_cq`); what is in it stays, and what has been read since startPoll is in it
   * until endPoll. `cqe` tells what was granted.
   *
   * @throws VerbsError EINVAL for a size outside 1 to `DeviceAttr.maxCqe`, or below what is in the queue, or after destroy
   */
  resize(cqe: number): void;

  /**
   * Holds events back so that several completions raise one (`ibv_modify_cq`).
   *
   * @throws VerbsError EINVAL for values above `DeviceAttrEx.cqModCaps`, or after destroy
   */
  modify(attr: CqModifyAttr): void;

  // The completion on which startPoll or nextPoll stands; as the fields of WorkCompletion.
  readonly wrId: bigint;
  /** The id as a number, without making a bigint: exact below 2^53. */
  readonly wrIdNumber: number;
  readonly status: WcStatus;
  readonly opcode: WcOpcode;
  readonly vendorErr: number;
  readonly byteLen: number;
  readonly immData: number;
  readonly invalidatedRkey: number;
  readonly qpNum: number;
  readonly srcQp: number;
  readonly wcFlags: number;
  /** 0 on RoCE (`ibv_wc_read_slid`). */
  readonly slid: number;
  readonly sl: number;
  /** 0 on RoCE. */
  readonly dlidPathBits: number;
  /**
   * When it completed, in ticks of the device's clock; of a completion in SUCCESS and a CQ that was made with
   * `WcExFlags.WITH_COMPLETION_TIMESTAMP` or its WALLCLOCK, otherwise 0n.
   */
  readonly completionTimestamp: bigint;
  /** The same in nanoseconds since 1970; needs WITH_COMPLETION_TIMESTAMP_WALLCLOCK, otherwise 0n. */
  readonly completionWallclockNs: bigint;
  /** 0: this device has no VLANs. */
  readonly cvlan: number;
  /** 0: this device has no flow steering. */
  readonly flowTag: number;
  /** All of it as an object, for `explain()`. */
  workCompletion(): WorkCompletion;

  /**
   * Ends the queue (`ibv_destroy_cq`).
   *
   * @throws VerbsError EBUSY while QPs or SRQs complete into it or events of it are not acknowledged, where the C call would
   *   wait; EINVAL when it was ended before
   */
  destroy(): void;
}
