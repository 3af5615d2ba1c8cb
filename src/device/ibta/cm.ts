/** The values of `enum rdma_port_space`: what an identifier connects, and which service IDs it has (protocol/connections.md 4.5). */
export const PortSpace = { IPOIB: 0x0002, TCP: 0x0106, UDP: 0x0111, IB: 0x013f } as const;
export type PortSpace = (typeof PortSpace)[keyof typeof PortSpace];

/** The values of `enum rdma_cm_event_type` (protocol/connections.md 4.7 says when each is raised). */
export const CmEventType = {
  ADDR_RESOLVED: 0,
  ADDR_ERROR: 1,
  ROUTE_RESOLVED: 2,
  ROUTE_ERROR: 3,
  CONNECT_REQUEST: 4,
  CONNECT_RESPONSE: 5,
  CONNECT_ERROR: 6,
  UNREACHABLE: 7,
  REJECTED: 8,
  ESTABLISHED: 9,
  DISCONNECTED: 10,
  DEVICE_REMOVAL: 11,
  MULTICAST_JOIN: 12,
  MULTICAST_ERROR: 13,
  ADDR_CHANGE: 14,
  TIMEWAIT_EXIT: 15,
  ADDRINFO_RESOLVED: 16,
  ADDRINFO_ERROR: 17,
  USER: 18,
  INTERNAL: 19,
} as const;
export type CmEventType = (typeof CmEventType)[keyof typeof CmEventType];

/** Why a connection was refused: the values of `enum ib_cm_rej_reason` (protocol/connections.md 4.3). */
export const RejectReason = {
  NO_QP: 1,
  NO_EEC: 2,
  NO_RESOURCES: 3,
  TIMEOUT: 4,
  UNSUPPORTED: 5,
  INVALID_COMM_ID: 6,
  INVALID_COMM_INSTANCE: 7,
  INVALID_SERVICE_ID: 8,
  INVALID_TRANSPORT_TYPE: 9,
  STALE_CONN: 10,
  RDC_NOT_EXIST: 11,
  INVALID_GID: 12,
  INVALID_LID: 13,
  INVALID_SL: 14,
  INVALID_TRAFFIC_CLASS: 15,
  INVALID_HOP_LIMIT: 16,
  INVALID_PACKET_RATE: 17,
  INVALID_ALT_GID: 18,
  INVALID_ALT_LID: 19,
  INVALID_ALT_SL: 20,
  INVALID_ALT_TRAFFIC_CLASS: 21,
  INVALID_ALT_HOP_LIMIT: 22,
  INVALID_ALT_PACKET_RATE: 23,
  PORT_CM_REDIRECT: 24,
  PORT_REDIRECT: 25,
  INVALID_MTU: 26,
  INSUFFICIENT_RESP_RESOURCES: 27,
  CONSUMER_DEFINED: 28,
  INVALID_RNR_RETRY: 29,
  DUPLICATE_LOCAL_COMM_ID: 30,
  INVALID_CLASS_VERSION: 31,
  INVALID_FLOW_LABEL: 32,
  INVALID_ALT_FLOW_LABEL: 33,
  VENDOR_OPTION_NOT_SUPPORTED: 35,
} as const;
export type RejectReason = (typeof RejectReason)[keyof typeof RejectReason];

/** How a service ID was resolved: the values of `enum ib_cm_sidr_status` (protocol/connections.md 4.3). */
export const SidrStatus = {
  SUCCESS: 0,
  UNSUPPORTED: 1,
  REJECT: 2,
  NO_QP: 3,
  REDIRECT: 4,
  UNSUPPORTED_VERSION: 5,
} as const;
export type SidrStatus = (typeof SidrStatus)[keyof typeof SidrStatus];

/** The Q_Key of the port spaces UDP and IB, and of RoCE's multicast groups (protocol/packets.md 1.5). */
export const RDMA_UDP_QKEY = 0x01234567;

/** Bytes of private data that each call may carry over RoCE (protocol/connections.md 4.5). */
export const PrivateDataBytes = {
  /** `connect` in the port spaces TCP and IB: 92 bytes of a REQ less the addresses that go first. */
  CONNECT: 56,
  /** `connect` in the port spaces UDP and IPoIB. */
  RESOLVE: 180,
  ACCEPT: 196,
  /** `accept` in the port spaces UDP and IPoIB. */
  RESOLVED: 136,
  REJECT: 148,
} as const;
