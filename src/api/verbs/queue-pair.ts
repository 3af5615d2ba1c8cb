import type { Gid, QpAttr, QpCap, QpState, QpType } from '../../device/ibta/index.js';
import type { AhAttrInit } from './address-handle.js';
import type { Address, WrId } from './address.js';
import type { Cq } from './completion.js';
import type { CompCntr, QpAttachCompCntrAttr } from './completion-counter.js';
import type { Context } from './context.js';
import type { Mw, MwBind } from './memory-window.js';
import type { Pd } from './protection-domain.js';
import type { SendBuilder } from './send-builder.js';
import type { Srq } from './shared-receive-queue.js';
import type { RecvWr, SendWr } from './work-request.js';

interface QpInitFields {
  /** Where send requests complete. */
  readonly sendCq: Cq;
  /** Where receive requests come from, instead of a queue of its own; RC, UC and UD. */
  readonly srq?: Srq;
  /** Sizes; `defaultQpCap` says what is taken for those that are absent. */
  readonly cap?: Partial<QpCap>;
  /** Every send request completes with an entry, as if all were SIGNALED. Default false. */
  readonly sqSigAll?: boolean;
  /** Bits of `QpCreateFlags`; default 0. This device has BLOCK_SELF_MCAST_LB, on UD. */
  readonly createFlags?: number;
  /**
   * Bits of `QpCreateSendOpsFlags`: the requests that the `wr*` calls of this QP may build. Default: all that its type
   * has.
   */
  readonly sendOpsFlags?: number;
  /** Another QP's number to send under: EOPNOTSUPP. */
  readonly sourceQpn?: number;
  /** Anything of the caller's; comes back as `qp.qpContext`. */
  readonly qpContext?: unknown;
}

/** `struct ibv_qp_init_attr_ex`. Only a QP of type XRC_SEND, which receives nothing, can do without `recvCq`. */
export type QpInitAttr = QpInitFields &
  (
    | { readonly qpType: typeof QpType.XRC_SEND; readonly recvCq?: Cq }
    | {
        readonly qpType: QpType;
        /** Where receive requests complete; may be the same as `sendCq`. */
        readonly recvCq: Cq;
      }
  );

/** The attributes to change. The mask of `ibv_modify_qp` is the set of those present. */
export type QpModifyAttr = Partial<Omit<QpAttr, 'ahAttr' | 'sqDraining'>> & { readonly ahAttr?: AhAttrInit };

/** What `query` tells. */
export interface QpQuery {
  readonly attr: QpAttr;
  readonly initAttr: QpInitAttr & { readonly cap: QpCap };
}

/** How fast a QP may send (`struct ibv_qp_rate_limit_attr`). */
export interface QpRateLimit {
  /** kbit/s of packets, headers and all; 0 for no limit. */
  readonly rateLimit: number;
  /** Bytes that may leave at once; 0 or absent for the device's choice. */
  readonly maxBurstSize?: number;
  /** Bytes of a packet, as a hint for bursts; 0 or absent for the MTU. */
  readonly typicalPktSize?: number;
}

/** What queue pairs of all types have. */
export interface QpBase extends Disposable {
  readonly context: Context;
  /** 24 bits. */
  readonly qpNum: number;
  readonly qpType: QpType;
  readonly qpContext: unknown;
  /** The state now; the NIC itself moves a QP to ERR when something fails. */
  readonly state: QpState;

  /**
   * Changes attributes, and the state when `qpState` is among them (`ibv_modify_qp`). What each transition needs and
   * allows: protocol.md 3.10. Nothing has changed when it throws.
   *
   * @throws VerbsError EINVAL, naming the attributes that are missing, too many or out of range; EPERM for a Q_Key
   *   with its top bit set
   */
  modify(attr: QpModifyAttr): void;

  /** All attributes as they are now (`ibv_query_qp`). @throws VerbsError EINVAL after destroy */
  query(): { readonly attr: QpAttr };

  /**
   * Has a counter count what the queue pair does (`ibv_qp_attach_comp_cntr`), until the queue pair ends. One counter can
   * count for several. WRITEs of the peer count when they have been placed whole, with immediate data or without; those of
   * a reliable connection that were refused or broken off count as errors. Writes that are atomic (ATOMIC_WRITE) are not
   * among them.
   *
   * @throws VerbsError EINVAL in another state than RESET and INIT, for a counter of another device or one that was ended,
   *   or no operations; EOPNOTSUPP for operations that the device does not count, and for types of QPs that peers cannot
   *   write to; EBUSY when the queue pair has a counter for them
   */
  attachCompCntr(compCntr: CompCntr, attr: QpAttachCompCntrAttr): void;

  /**
   * Ends the queue pair (`ibv_destroy_qp`). Requests that are outstanding end without completions.
   *
   * @throws VerbsError EBUSY while it is attached to multicast groups; EINVAL when it was ended before
   */
  destroy(): void;
}

/**
 * `struct ibv_qp`: a queue pair. There are two styles of posting: {@link postSend} and {@link postRecv} take an object
 * per request; `wrStart` to `wrComplete` (after `ibv_wr_start`) and {@link postRecvSge} take none.
 */
export interface Qp extends QpBase, SendBuilder {
  readonly pd: Pd;
  readonly sendCq: Cq;
  /** The send CQ where an XRC_SEND QP was made without one. */
  readonly recvCq: Cq;
  readonly srq: Srq | undefined;
  /** Sizes that were granted: at least what was asked for. */
  readonly cap: QpCap;

  /** All attributes as they are now (`ibv_query_qp`). @throws VerbsError EINVAL after destroy */
  query(): QpQuery;

  /**
   * How its requests fare on their way, as `rdma resource show qp --details` prints it; since it went to RTS. RC and XRC_SEND
   * have: `cwnd` and `cwnd_max`, bytes that may be unacknowledged now, and at most; `cwnd_cuts`, how often congestion or loss
   * cut the window, and `cwnd_quiet_rounds`, the round trips since; `rtt_us` and `rtt_var_us`, the smoothed round trip and
   * how much it varies, 0 while nothing is known; and of the device's counters of the same names this one's part:
   * `rp_cnp_handled`, `loss_probes`, `retransmitted_pkts`, `completer_retry_err`. Other types have none: nobody acknowledges
   * what they send.
   *
   * @throws VerbsError EINVAL after destroy
   */
  counters(): Readonly<Record<string, number>>;

  /**
   * Posts send requests in their order (`ibv_post_send`). Those before a failing one stay posted. Memory that a
   * request names must be left alone until its completion, unless `SendFlags.INLINE` is set.
   *
   * On success only a request that is SIGNALED (or any, with `sqSigAll`) completes with an entry; its slot in the send
   * queue comes back then, or with a later one that does. Completions come in posting order. Statuses beside SUCCESS:
   * protocol.md 2.10, send side.
   *
   * @throws PostError naming the failing request: EINVAL for an opcode or flag that the QP type does not have, more
   *   pieces than `cap.maxSendSge`, more inline data than `cap.maxInlineData`, an atomic or ATOMIC_WRITE that is not 8
   *   bytes at a multiple of 8, a datagram without `ud`, an XRC request without `xrc`, a window that cannot be bound so,
   *   a value out of range, or a QP that is not yet in RTS; ENOMEM when the send queue is full
   */
  postSend(wr: SendWr | readonly SendWr[]): void;

  /**
   * Posts receive requests in their order (`ibv_post_recv`). Those before a failing one stay posted. Every receive
   * request completes with an entry. Statuses beside SUCCESS: protocol.md 2.10, receive side.
   *
   * On UD the first 40 bytes of what a request names receive the IP header (protocol.md 1.6), and the message comes
   * behind them.
   *
   * @throws PostError naming the failing request: EINVAL for more pieces than `cap.maxRecvSge`, a value out of range,
   *   a QP in RESET, or one without a receive queue of its own; ENOMEM when the receive queue is full
   */
  postRecv(wr: RecvWr | readonly RecvWr[]): void;

  /** Posts a receive request of one piece, without an object. Errors as {@link postRecv}. */
  postRecvSge(wrId: WrId, lkey: number, addr: Address, length: number): void;

  /**
   * Binds a memory window of type 1 (`ibv_bind_mw`): posts a request that takes effect in its turn in the send queue,
   * and completes as BIND_MW. `mw.rkey` is the new key at once; the old one closes when the bind is carried out. Length
   * 0 unbinds. A bind that the region does not allow completes with MW_BIND_ERR. Among the access flags LOCAL_WRITE and
   * MW_BIND are let through and mean nothing, and FLUSH_GLOBAL and FLUSH_PERSISTENT may be given.
   *
   * @throws VerbsError EINVAL for a window of type 2, ZERO_BASED or another access flag that windows do not have, an
   *   address or length without a region, or a QP that is not yet in RTS; EPERM when region and window are of different
   *   domains; ENOMEM when the send queue is full
   */
  bindMw(mw: Mw, bind: MwBind): void;

  /**
   * Has the QP receive what is sent to a multicast group (`ibv_attach_mcast`). Attaching twice counts once.
   *
   * @param gid of the group: `::ffff:224.x.y.z` to `::ffff:239.x.y.z`, or `ff..:`
   * @param lid of no meaning on RoCE
   * @throws VerbsError EINVAL for a QP of another type than UD or a GID of no group; ENOMEM when device or group are
   *   full; the errno of the system where it refuses to join
   */
  attachMcast(gid: Gid, lid?: number): void;

  /** Ends that (`ibv_detach_mcast`). @throws VerbsError EINVAL when the QP is not attached to the group */
  detachMcast(gid: Gid, lid?: number): void;

  /**
   * Limits how fast the QP sends (`ibv_modify_qp_rate_limit`).
   *
   * @throws VerbsError EINVAL for a rate outside `DeviceAttrEx.packetPacingCaps`, a value out of range, or a QP that is
   *   not yet in RTS
   */
  modifyRateLimit(limit: QpRateLimit): void;

  /** Flow steering (`ibv_create_flow`), which this device does not have. @throws VerbsError EOPNOTSUPP */
  createFlow(flow?: unknown): never;
}
