import type { AhAttr, QpType } from '../../../device/ibta/index.js';
import type { Pd, QpInitAttr } from '../../verbs/index.js';
import type { SocketAddress } from '../addresses/address.js';

/** How a group is joined (`enum rdma_cm_mc_join_flags`). */
export const McJoinFlag = { FULLMEMBER: 0, SENDONLY_FULLMEMBER: 1 } as const;
export type McJoinFlag = (typeof McJoinFlag)[keyof typeof McJoinFlag];

/** What `joinMulticastEx` takes (`struct rdma_cm_join_mc_attr_ex`). */
export interface JoinMcAttr {
  readonly addr: SocketAddress;
  /** SENDONLY_FULLMEMBER does not attach the queue pair. */
  readonly joinFlags: McJoinFlag;
}

/**
 * What `createQp` takes (`struct ibv_qp_init_attr`). Completion queues that are not given are made, each with a channel
 * of its own, and end with the queue pair.
 */
export type IdQpInitAttr = Partial<Omit<QpInitAttr, 'qpType'>> & {
  /** Default: that of the identifier, RC or UD as its port space says. */
  readonly qpType?: QpType;
};

/**
 * What `connect` and `accept` take (`struct rdma_conn_param`). Datagrams take `privateData` alone, and `accept` of theirs also
 * `qpNum`, `qpType` and `qkey`: any other parameter is EINVAL there, and `qkey` is for connections.
 */
export interface ConnParam {
  /** For the peer: at most as many bytes as `PrivateDataBytes` says for the call. Default none. */
  readonly privateData?: Uint8Array;
  /**
   * READs and atomics of the peer that may be outstanding here, 0 to `DeviceAttr.maxQpRdAtom`. Default: the most the
   * device has; in `accept` no more than the request asks for. The side that connects has room for no more than it offers
   * here, whatever the peer answers, unless it leads its queue pair itself.
   */
  readonly responderResources?: number;
  /**
   * READs and atomics that may be outstanding towards the peer, 0 to `DeviceAttr.maxQpInitRdAtom`. Default as for
   * `responderResources`. A queue pair of the identifier uses no more than the peer offers.
   */
  readonly initiatorDepth?: number;
  /** Default false. */
  readonly flowControl?: boolean;
  /** How often either side repeats what is not acknowledged, 0 to 7; default 7. `accept` ignores it. */
  readonly retryCount?: number;
  /** How often the peer repeats what found no receive request, 0 to 6; 7, the default, is for ever. */
  readonly rnrRetryCount?: number;
  /** Of a queue pair that was made elsewhere: whether it has a shared receive queue. Ignored when the identifier has one. */
  readonly srq?: boolean;
  /** Number of a queue pair that was made elsewhere, 24 bits. Ignored when the identifier has one. */
  readonly qpNum?: number;
  /** Type of a queue pair that was made elsewhere. Default: that of the identifier. Ignored when the identifier has one. */
  readonly qpType?: QpType;
  /** In `accept` of datagrams: Q_Key of the queue pair, 32 bits; default `RDMA_UDP_QKEY`. */
  readonly qkey?: number;
}

/** What an event says of a connection (`struct rdma_conn_param`), from the receiver's point of view. */
export interface ConnParamReceived {
  /** What the peer said, with zeros at its end: as long as the message can hold. Empty where it carries none. */
  readonly privateData: Uint8Array;
  readonly responderResources: number;
  readonly initiatorDepth: number;
  readonly flowControl: boolean;
  /** Of a request; 0 in answers, which have none. */
  readonly retryCount: number;
  readonly rnrRetryCount: number;
  readonly srq: boolean;
  /** The peer's. */
  readonly qpNum: number;
}

/** What an event says of datagrams (`struct rdma_ud_param`). */
export interface UdParamReceived {
  /** As in {@link ConnParamReceived}. */
  readonly privateData: Uint8Array;
  /** What `Pd.createAh` takes to send to the peer, or to the group. */
  readonly ahAttr: AhAttr;
  /** The peer's; 0xffffff for a group. */
  readonly qpNum: number;
  /** What datagrams to it must show. */
  readonly qkey: number;
}

/** As `responderResources`: the most that the device has. */
export const RDMA_MAX_RESP_RES = 0xff;
/** As `initiatorDepth`: the most that the device has. */
export const RDMA_MAX_INIT_DEPTH = 0xff;

/** How every request of a passive endpoint gets its queue pair. */
export interface QpTemplate {
  readonly pd: Pd | undefined;
  readonly init: IdQpInitAttr;
}
