/** The values of `enum ibv_node_type`. */
export const NodeType = {
  UNKNOWN: -1,
  CA: 1,
  SWITCH: 2,
  ROUTER: 3,
  RNIC: 4,
  USNIC: 5,
  USNIC_UDP: 6,
  UNSPECIFIED: 7,
} as const;
export type NodeType = (typeof NodeType)[keyof typeof NodeType];

/** The values of `enum ibv_transport_type`. */
export const TransportType = {
  UNKNOWN: -1,
  IB: 0,
  IWARP: 1,
  USNIC: 2,
  USNIC_UDP: 3,
  UNSPECIFIED: 4,
} as const;
export type TransportType = (typeof TransportType)[keyof typeof TransportType];

/** The values of `enum ibv_atomic_cap`: with whom atomics are atomic. */
export const AtomicCap = {
  NONE: 0,
  /** Among the QPs of this device. */
  HCA: 1,
  /** With the processor, too. */
  GLOB: 2,
} as const;
export type AtomicCap = (typeof AtomicCap)[keyof typeof AtomicCap];

/** Bits of `enum ibv_device_cap_flags`. */
export const DeviceCapFlags = {
  RESIZE_MAX_WR: 1,
  BAD_PKEY_CNTR: 1 << 1,
  BAD_QKEY_CNTR: 1 << 2,
  RAW_MULTI: 1 << 3,
  AUTO_PATH_MIG: 1 << 4,
  CHANGE_PHY_PORT: 1 << 5,
  UD_AV_PORT_ENFORCE: 1 << 6,
  CURR_QP_STATE_MOD: 1 << 7,
  SHUTDOWN_PORT: 1 << 8,
  INIT_TYPE: 1 << 9,
  PORT_ACTIVE_EVENT: 1 << 10,
  SYS_IMAGE_GUID: 1 << 11,
  RC_RNR_NAK_GEN: 1 << 12,
  SRQ_RESIZE: 1 << 13,
  N_NOTIFY_CQ: 1 << 14,
  MEM_WINDOW: 1 << 17,
  UD_IP_CSUM: 1 << 18,
  XRC: 1 << 20,
  MEM_MGT_EXTENSIONS: 1 << 21,
  MEM_WINDOW_TYPE_2A: 1 << 23,
  MEM_WINDOW_TYPE_2B: 1 << 24,
  RC_IP_CSUM: 1 << 25,
  RAW_IP_CSUM: 1 << 26,
  MANAGED_FLOW_STEERING: 1 << 29,
} as const;

/** `struct ibv_device_attr`: what a device is and can do. */
export interface DeviceAttr {
  readonly fwVer: string;
  readonly nodeGuid: bigint;
  readonly sysImageGuid: bigint;
  /** Bytes of the largest memory region. */
  readonly maxMrSize: bigint;
  /** Bit mask of page sizes that the device can map. */
  readonly pageSizeCap: number;
  readonly vendorId: number;
  readonly vendorPartId: number;
  readonly hwVer: number;
  readonly maxQp: number;
  readonly maxQpWr: number;
  /** Bits of {@link DeviceCapFlags}. */
  readonly deviceCapFlags: number;
  readonly maxSge: number;
  readonly maxSgeRd: number;
  readonly maxCq: number;
  readonly maxCqe: number;
  readonly maxMr: number;
  readonly maxPd: number;
  /** READs and atomics that may be outstanding toward one QP (`maxDestRdAtomic`). */
  readonly maxQpRdAtom: number;
  readonly maxEeRdAtom: number;
  readonly maxResRdAtom: number;
  /** READs and atomics that one QP may have outstanding (`maxRdAtomic`). */
  readonly maxQpInitRdAtom: number;
  readonly maxEeInitRdAtom: number;
  readonly atomicCap: AtomicCap;
  readonly maxEe: number;
  readonly maxRdd: number;
  readonly maxMw: number;
  readonly maxRawIpv6Qp: number;
  readonly maxRawEthyQp: number;
  readonly maxMcastGrp: number;
  readonly maxMcastQpAttach: number;
  readonly maxTotalMcastQpAttach: number;
  readonly maxAh: number;
  readonly maxFmr: number;
  readonly maxMapPerFmr: number;
  readonly maxSrq: number;
  readonly maxSrqWr: number;
  readonly maxSrqSge: number;
  readonly maxPkeys: number;
  /** Exponent of the device's own delay before an ACK, as `ackTimeoutUs` reads it. */
  readonly localCaAckDelay: number;
  readonly physPortCnt: number;
}

/** The values of `enum ibv_event_type`: asynchronous events (protocol/services.md 3.11 says when each is raised). */
export const EventType = {
  CQ_ERR: 0,
  QP_FATAL: 1,
  QP_REQ_ERR: 2,
  QP_ACCESS_ERR: 3,
  COMM_EST: 4,
  SQ_DRAINED: 5,
  PATH_MIG: 6,
  PATH_MIG_ERR: 7,
  DEVICE_FATAL: 8,
  PORT_ACTIVE: 9,
  PORT_ERR: 10,
  LID_CHANGE: 11,
  PKEY_CHANGE: 12,
  SM_CHANGE: 13,
  SRQ_ERR: 14,
  SRQ_LIMIT_REACHED: 15,
  QP_LAST_WQE_REACHED: 16,
  CLIENT_REREGISTER: 17,
  GID_CHANGE: 18,
  WQ_FATAL: 19,
  DEVICE_SPEED_CHANGE: 20,
} as const;
export type EventType = (typeof EventType)[keyof typeof EventType];
