import type { SrqType } from '../../../device/ibta/index.js';
import type { Address, WrId } from '../address.js';
import type { RecvWr } from './work-request.js';

/** What `openXrcd` takes (`struct ibv_xrcd_init_attr`). */
export interface XrcdInitAttr {
  /** A file that stands for the domain: the same file is the same domain. Default -1, a domain of its own. */
  readonly fd?: number;
  /** Bits of `XrcdOpenFlags`; default CREAT. */
  readonly oFlags?: number;
}

/** What `Xrcd.createQp` takes. */
export interface XrcTargetQpInitAttr {
  /** Anything of the caller's; comes back as `qp.qpContext`. */
  readonly qpContext?: unknown;
}

/** What `Xrcd.openQp` takes (`struct ibv_qp_open_attr`). */
export interface XrcTargetQpOpenAttr extends XrcTargetQpInitAttr {
  /** The number of a QP of type XRC_RECV in this domain. */
  readonly qpNum: number;
}

/** The attributes to change (`struct ibv_srq_attr`). The mask of `ibv_modify_srq` is the set of those present. */
export interface SrqModifyAttr {
  /** Requests that may be outstanding, 1 to `DeviceAttr.maxSrqWr`. */
  readonly maxWr?: number;
  /**
   * Once fewer requests than this are posted, SRQ_LIMIT_REACHED is raised and the limit reads 0 until it is set anew
   * (protocol/services.md 3.4). 0 to `maxWr`; 0 asks for no event.
   */
  readonly srqLimit?: number;
}

/** What `query` tells (`struct ibv_srq_attr`). */
export interface SrqAttr {
  readonly maxWr: number;
  readonly maxSge: number;
  readonly srqLimit: number;
}

/** The calls of a shared receive queue that name no other object. */
export interface SrqCalls extends Disposable {
  readonly srqType: SrqType;
  readonly srqContext: unknown;
  /** XRC: the number by which requests of peers name it, 24 bits (`ibv_get_srq_num`). Otherwise 0. */
  readonly srqNum: number;
  /** Requests that may be outstanding: at least what was asked for. */
  readonly maxWr: number;
  /** Pieces of a request: at least what was asked for. */
  readonly maxSge: number;

  /**
   * Changes size or limit (`ibv_modify_srq`). What is posted stays posted. Nothing has changed when it throws.
   *
   * @throws VerbsError EINVAL for a size outside 1 to `DeviceAttr.maxSrqWr` or below what is posted, for a limit above
   *   the size, or after destroy
   */
  modify(attr: SrqModifyAttr): void;

  /** Sizes and limit as they are now (`ibv_query_srq`). @throws VerbsError EINVAL after destroy */
  query(): SrqAttr;

  /**
   * Posts receive requests in their order (`ibv_post_srq_recv`). Those before a failing one stay posted. Each completes
   * in the receive CQ of the QP that takes it (XRC: in the queue's own CQ) with that QP's number.
   *
   * @throws PostError naming the failing request: EINVAL for more pieces than {@link maxSge} or a value out of range;
   *   ENOMEM when the queue is full
   */
  postRecv(wr: RecvWr | readonly RecvWr[]): void;

  /** Posts a receive request of one piece, without an object. Errors as {@link postRecv}. */
  postRecvSge(wrId: WrId, lkey: number, addr: Address, length: number): void;

  /**
   * Ends the queue (`ibv_destroy_srq`). What is posted ends without completions.
   *
   * @throws VerbsError EBUSY while QPs use it; EINVAL when it was ended before
   */
  destroy(): void;
}
