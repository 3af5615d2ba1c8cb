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
