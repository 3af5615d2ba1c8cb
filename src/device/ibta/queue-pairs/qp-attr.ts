import type { Mtu } from '../device/port.js';
import type { Gid } from '../gid.js';
import type { MigState, QpState } from './qp.js';

/** Sizes of a QP's queues (`struct ibv_qp_cap`). */
export interface QpCap {
  /** Send requests that may be outstanding. */
  readonly maxSendWr: number;
  /** Receive requests that may be outstanding. */
  readonly maxRecvWr: number;
  /** Scatter/gather entries of a send request. */
  readonly maxSendSge: number;
  /** Scatter/gather entries of a receive request. */
  readonly maxRecvSge: number;
  /** Bytes of inline data in a send request. */
  readonly maxInlineData: number;
}

/** `struct ibv_global_route`: the part of an address that goes into the IP header. */
export interface GlobalRoute {
  /** The peer's GID. */
  readonly dgid: Gid;
  /** 20 bits. */
  readonly flowLabel: number;
  /** Index of our own GID in the port's table. */
  readonly sgidIndex: number;
  /** TTL or hop limit, 8 bits. */
  readonly hopLimit: number;
  /** TOS or traffic class, 8 bits. */
  readonly trafficClass: number;
}

/** `struct ibv_ah_attr`: where a peer is. RoCE always needs `grh`. */
export interface AhAttr {
  readonly grh?: GlobalRoute;
  readonly dlid: number;
  readonly sl: number;
  readonly srcPathBits: number;
  readonly staticRate: number;
  /** Whether `grh` is used. */
  readonly isGlobal: boolean;
  readonly portNum: number;
}

/** `struct ibv_qp_attr`. Which attributes a transition needs or allows: protocol/services.md 3.10, `checkTransition`. */
export interface QpAttr {
  readonly qpState: QpState;
  /** The state that the caller believes the QP to be in. */
  readonly curQpState: QpState;
  readonly pathMtu: Mtu;
  readonly pathMigState: MigState;
  /** UD: the Q_Key that a datagram must show, 32 bits. */
  readonly qkey: number;
  /** First PSN expected from the peer, 24 bits. */
  readonly rqPsn: number;
  /** First PSN sent, 24 bits. */
  readonly sqPsn: number;
  /** The peer's QP number, 24 bits. */
  readonly destQpNum: number;
  /** What the peer may do: bits of `AccessFlags`. */
  readonly qpAccessFlags: number;
  readonly cap: QpCap;
  readonly ahAttr: AhAttr;
  readonly altAhAttr: AhAttr;
  readonly pkeyIndex: number;
  readonly altPkeyIndex: number;
  /** 1 asks for SQ_DRAINED once the send queue has come to rest. */
  readonly enSqdAsyncNotify: number;
  /** Query only: 1 while the send queue drains. */
  readonly sqDraining: number;
  /** READs and atomics that we may have outstanding. */
  readonly maxRdAtomic: number;
  /** READs and atomics that the peer may have outstanding here. */
  readonly maxDestRdAtomic: number;
  /** RNR timer code that our RNR NAKs carry, 0 to 31 (`rnrTimerUs`). */
  readonly minRnrTimer: number;
  readonly portNum: number;
  /** ACK timeout exponent, 0 to 31 (`ackTimeoutUs`). */
  readonly timeout: number;
  /** Retransmissions before RETRY_EXC_ERR, 0 to 7. */
  readonly retryCnt: number;
  /** Retries after RNR NAKs, 0 to 6; 7 is for ever. */
  readonly rnrRetry: number;
  readonly altPortNum: number;
  readonly altTimeout: number;
  /** kbit/s; RAW_PACKET only. */
  readonly rateLimit: number;
}
