import type { CompCntrType } from '../../../device/ibta/index.js';

/** What `createCompCntr` takes (`struct ibv_comp_cntr_init_attr`). */
export interface CompCntrInitAttr {
  /** What is counted of an operation: that it was (WRS, the default), or its bytes. */
  readonly type?: CompCntrType;
}

/** What `Qp.attachCompCntr` takes (`struct ibv_qp_attach_comp_cntr_attr`). */
export interface QpAttachCompCntrAttr {
  /** Bits of `QpAttachCompCntrOp`. This device has REMOTE_RDMA_WRITE. */
  readonly opMask: number;
}

/**
 * A completion counter is two numbers of 64 bits, of operations that completed and of those that ended in error. The NIC
 * counts by atomic additions, after an operation has taken effect: who reads a number by `Atomics` sees in memory what the
 * operations that it counts have written there. So a program can wait for WRITEs of a peer, of which no completion tells it.
 * Each number begins again at 0 beyond 2^64 - 1.
 */
export interface CompCntrCalls extends Disposable {
  readonly handle: number;
  readonly type: CompCntrType;

  /**
   * The numbers, for `Atomics.load` at 0 (completions) and at 1 (errors); not to be written to. From 0 on {@link set} and
   * {@link inc} change them.
   */
  readonly counts: BigUint64Array;

  /**
   * The same memory word by word: the low word of the completions at 0, of the errors at 2. For those who poll: to load a
   * bigint allocates it.
   */
  readonly words: Int32Array;

  /** The number of completions (`ibv_read_comp_cntr`). @throws VerbsError EINVAL after destroy */
  read(): bigint;
  /** The number of errors (`ibv_read_err_comp_cntr`). @throws VerbsError EINVAL after destroy */
  readErr(): bigint;

  /**
   * Sets the number of completions (`ibv_set_comp_cntr`). What completes at the same time may be lost.
   *
   * @param value 0 to 2^64 - 1
   * @throws VerbsError EINVAL for another value, or after destroy
   */
  set(value: bigint): void;
  /** Sets the number of errors (`ibv_set_err_comp_cntr`). @throws VerbsError as {@link set} */
  setErr(value: bigint): void;

  /**
   * Adds to the number of completions (`ibv_inc_comp_cntr`).
   *
   * @param amount 0 to 2^64 - 1
   * @throws VerbsError EINVAL for another amount, or after destroy
   */
  inc(amount: bigint): void;
  /** Adds to the number of errors (`ibv_inc_err_comp_cntr`). @throws VerbsError as {@link inc} */
  incErr(amount: bigint): void;

  /**
   * Ends the counter (`ibv_destroy_comp_cntr`).
   *
   * @throws VerbsError EBUSY while it is attached to queue pairs; EINVAL when it was ended before
   */
  destroy(): void;
}
