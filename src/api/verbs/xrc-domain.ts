import type { QpAttr, QpType } from '../../device/ibta/index.js';
import type { Context } from './context.js';
import type { QpBase } from './queue-pair.js';

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

/** What `XrcTargetQp.query` tells. */
export interface XrcTargetQpQuery {
  readonly attr: QpAttr;
  readonly initAttr: XrcTargetQpInitAttr & { readonly qpType: typeof QpType.XRC_RECV; readonly xrcd: Xrcd };
}

/**
 * A queue pair of type XRC_RECV, the target of an extended reliable connection: it takes requests only, into the shared
 * receive queue that each of them names, which completes into its own CQ (protocol.md 3.3).
 */
export interface XrcTargetQp extends QpBase {
  readonly qpType: typeof QpType.XRC_RECV;
  readonly xrcd: Xrcd;

  /** All attributes as they are now (`ibv_query_qp`). @throws VerbsError EINVAL after destroy */
  query(): XrcTargetQpQuery;

  /**
   * Ends the queue pair, or lets go of it where it was opened by `openQp` (`ibv_destroy_qp`): it exists until all have.
   *
   * @throws VerbsError EINVAL when it was ended before
   */
  destroy(): void;
}

/** `struct ibv_xrcd`: a domain of extended reliable connections. Its targets fill the SRQs of the same domain only. */
export interface Xrcd extends Disposable {
  readonly context: Context;

  /**
   * Makes a queue pair of type XRC_RECV, in state RESET (`ibv_create_qp_ex` with an XRCD).
   *
   * @throws VerbsError ENOMEM when the device is full; EINVAL after close
   */
  createQp(init?: XrcTargetQpInitAttr): XrcTargetQp;

  /**
   * Takes part in a queue pair that somebody else made in the domain (`ibv_open_qp`), for its events and its end.
   *
   * @throws VerbsError EINVAL when the domain has no such queue pair
   */
  openQp(attr: XrcTargetQpOpenAttr): XrcTargetQp;

  /**
   * Ends the domain, or lets go of it where it was opened more than once (`ibv_close_xrcd`).
   *
   * @throws VerbsError EBUSY while QPs or SRQs are in it; EINVAL when it was closed before
   */
  close(): void;
}
