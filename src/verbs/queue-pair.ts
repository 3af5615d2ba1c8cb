import type { AhAttr, GlobalRoute, QpAttr, QpCap, QpState, QpType } from '../spec/index.js';
import type { Address, WrId } from './address.js';
import type { Cq } from './completion.js';
import type { Context } from './context.js';
import type { Pd } from './memory.js';
import type { RecvWr, SendWr, Sge } from './work-request.js';

/** `struct ibv_qp_init_attr`. */
export interface QpInitAttr {
  readonly qpType: QpType;
  /** Where send requests complete. */
  readonly sendCq: Cq;
  /** Where receive requests complete; may be the same. */
  readonly recvCq: Cq;
  /** Sizes; `defaultQpCap` says what is taken for those that are absent. */
  readonly cap?: Partial<QpCap>;
  /** Every send request completes with an entry, as if all were SIGNALED. Default false. */
  readonly sqSigAll?: boolean;
  /** Anything of the caller's; comes back as `qp.qpContext`. */
  readonly qpContext?: unknown;
}

/** An address as `modify` takes it. What is absent: hop limit 64, port 1, SGID index 0, otherwise 0. */
export interface AhAttrInit extends Partial<Omit<AhAttr, 'grh'>> {
  /** RoCE cannot do without: it carries the peer's GID. */
  readonly grh?: Partial<Omit<GlobalRoute, 'dgid'>> & Pick<GlobalRoute, 'dgid'>;
}

/** The attributes to change. The mask of `ibv_modify_qp` is the set of those present. */
export type QpModifyAttr = Partial<Omit<QpAttr, 'ahAttr' | 'sqDraining'>> & { readonly ahAttr?: AhAttrInit };

/** What `query` tells. */
export interface QpQuery {
  readonly attr: QpAttr;
  readonly initAttr: QpInitAttr & { readonly cap: QpCap };
}

/**
 * `struct ibv_qp`: a queue pair. There are two styles of posting: {@link postSend} and {@link postRecv} take an object
 * per request; `wrStart` to `wrComplete` (after `ibv_wr_start`) and {@link postRecvSge} take none.
 */
export interface Qp extends Disposable {
  readonly context: Context;
  readonly pd: Pd;
  readonly qpNum: number;
  readonly qpType: QpType;
  readonly sendCq: Cq;
  readonly recvCq: Cq;
  /** Sizes that were granted: at least what was asked for. */
  readonly cap: QpCap;
  readonly qpContext: unknown;
  /** The state now; the NIC itself moves a QP to ERR when something fails. */
  readonly state: QpState;

  /**
   * Changes attributes, and the state when `qpState` is among them (`ibv_modify_qp`). What each transition needs and
   * allows: PROTOCOL.md 3.10. Nothing has changed when it throws.
   *
   * @throws VerbsError EINVAL, naming the attributes that are missing, too many or out of range; EPERM for a Q_Key
   *   with its top bit set
   */
  modify(attr: QpModifyAttr): void;

  /** All attributes as they are now (`ibv_query_qp`). */
  query(): QpQuery;

  /**
   * Posts send requests in their order (`ibv_post_send`). Those before a failing one stay posted. Memory that a
   * request names must be left alone until its completion, unless `SendFlags.INLINE` is set.
   *
   * On success only a request that is SIGNALED (or any, with `sqSigAll`) completes with an entry; its slot in the send
   * queue comes back then, or with a later one that does. Completions come in posting order. Statuses beside SUCCESS:
   * PROTOCOL.md 2.10, send side.
   *
   * @throws PostError naming the failing request: EINVAL for an opcode or flag that the QP type does not have, more
   *   pieces than `cap.maxSendSge`, more inline data than `cap.maxInlineData`, an atomic that is not 8 bytes at a
   *   multiple of 8, a value out of range, or a QP that is not yet in RTS; ENOMEM when the send queue is full
   */
  postSend(wr: SendWr | readonly SendWr[]): void;

  /**
   * Posts receive requests in their order (`ibv_post_recv`). Those before a failing one stay posted. Every receive
   * request completes with an entry. Statuses beside SUCCESS: PROTOCOL.md 2.10, receive side.
   *
   * @throws PostError naming the failing request: EINVAL for more pieces than `cap.maxRecvSge`, a value out of range,
   *   or a QP in RESET; ENOMEM when the receive queue is full
   */
  postRecv(wr: RecvWr | readonly RecvWr[]): void;

  /** Posts a receive request of one piece, without an object. Errors as {@link postRecv}. */
  postRecvSge(wrId: WrId, lkey: number, addr: Address, length: number): void;

  /**
   * Begins a batch of send requests. For each: {@link wrId} and {@link wrFlags} (both keep their values until set
   * anew), then one of `wrSend` to `wrAtomicFetchAdd`, then its data by one of `wrSetSge`, `wrSetSgeList`,
   * `wrSetInlineData`, or none for a message of length zero. Nothing is sent before {@link wrComplete}.
   *
   * Mistakes in between are kept, and thrown by wrComplete.
   *
   * @throws VerbsError EINVAL when a batch is open already, or after destroy
   */
  wrStart(): void;
  /** Id of the requests that follow; 0 after wrStart. */
  set wrId(wrId: WrId);
  /** `SendFlags` of the requests that follow, 0 after wrStart; INLINE is set by wrSetInlineData alone. */
  set wrFlags(sendFlags: number);
  wrSend(): void;
  wrSendImm(immData: number): void;
  wrSendInv(invalidateRkey: number): void;
  wrRdmaWrite(rkey: number, remoteAddr: Address): void;
  wrRdmaWriteImm(rkey: number, remoteAddr: Address, immData: number): void;
  wrRdmaRead(rkey: number, remoteAddr: Address): void;
  wrAtomicCmpSwp(rkey: number, remoteAddr: Address, compare: Address, swap: Address): void;
  wrAtomicFetchAdd(rkey: number, remoteAddr: Address, add: Address): void;
  wrSetSge(lkey: number, addr: Address, length: number): void;
  wrSetSgeList(sgList: readonly Sge[]): void;
  /** Takes the bytes at once, whether registered or not; at most `cap.maxInlineData`. */
  wrSetInlineData(bytes: Uint8Array): void;
  /**
   * Posts the whole batch, or nothing of it.
   *
   * @throws VerbsError for the first mistake since wrStart, EINVAL or ENOMEM as {@link postSend}; the batch is gone
   */
  wrComplete(): void;
  /** Forgets the batch. */
  wrAbort(): void;

  /**
   * Ends the queue pair (`ibv_destroy_qp`). Requests that are outstanding end without completions.
   *
   * @throws VerbsError EINVAL when it was ended before
   */
  destroy(): void;
}
