import type { Gid, QpAttr, QpCap, QpState, QpType, AhAttr, GlobalRoute } from '../../../device/ibta/index.js';
import type { Address, WrId } from '../address.js';
import type { RecvWr } from './work-request.js';

/** An address as calls take it. What is absent: hop limit 64, port 1, SGID index 0, otherwise 0. */
export interface AhAttrInit extends Partial<Omit<AhAttr, 'grh'>> {
  /** RoCE cannot do without: it carries the peer's GID. */
  readonly grh?: Partial<Omit<GlobalRoute, 'dgid'>> & Pick<GlobalRoute, 'dgid'>;
}

/** The attributes to change. The mask of `ibv_modify_qp` is the set of those present. */
export type QpModifyAttr = Partial<Omit<QpAttr, 'ahAttr' | 'sqDraining'>> & { readonly ahAttr?: AhAttrInit };

/** How fast a QP may send (`struct ibv_qp_rate_limit_attr`). */
export interface QpRateLimit {
  /** kbit/s of packets, headers and all; 0 for no limit. */
  readonly rateLimit: number;
  /** Bytes that may leave at once; 0 or absent for the device's choice. */
  readonly maxBurstSize?: number;
  /** Bytes of a packet, as a hint for bursts; 0 or absent for the MTU. */
  readonly typicalPktSize?: number;
}

/** The calls of queue pairs of all types that name no other object. */
export interface QpBaseCalls extends Disposable {
  /** 24 bits. */
  readonly qpNum: number;
  readonly qpType: QpType;
  readonly qpContext: unknown;
  /** The state now; the NIC itself moves a QP to ERR when something fails. */
  readonly state: QpState;

  /**
   * Changes attributes, and the state when `qpState` is among them (`ibv_modify_qp`). What each transition needs and
   * allows: protocol/services.md 3.10. Nothing has changed when it throws.
   *
   * @throws VerbsError EINVAL, naming the attributes that are missing, too many or out of range; EPERM for a Q_Key
   *   with its top bit set
   */
  modify(attr: QpModifyAttr): void;

  /** All attributes as they are now (`ibv_query_qp`). @throws VerbsError EINVAL after destroy */
  query(): { readonly attr: QpAttr };

  /**
   * Ends the queue pair (`ibv_destroy_qp`). Requests that are outstanding end without completions.
   *
   * @throws VerbsError EBUSY while it is attached to multicast groups; EINVAL when it was ended before
   */
  destroy(): void;
}

/** The calls of a queue pair that name no other object. */
export interface QpCalls {
  /** Sizes that were granted: at least what was asked for. */
  readonly cap: QpCap;

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
   * Posts receive requests in their order (`ibv_post_recv`). Those before a failing one stay posted. Every receive
   * request completes with an entry. Statuses beside SUCCESS: protocol/reliable.md 2.10, receive side.
   *
   * On UD the first 40 bytes of what a request names receive the IP header (protocol/packets.md 1.6), and the message comes
   * behind them.
   *
   * @throws PostError naming the failing request: EINVAL for more pieces than `cap.maxRecvSge`, a value out of range,
   *   a QP in RESET, or one without a receive queue of its own; ENOMEM when the receive queue is full
   */
  postRecv(wr: RecvWr | readonly RecvWr[]): void;

  /** Posts a receive request of one piece, without an object. Errors as {@link postRecv}. */
  postRecvSge(wrId: WrId, lkey: number, addr: Address, length: number): void;

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
