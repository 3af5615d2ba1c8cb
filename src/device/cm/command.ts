import type { CmEventType, Gid, PortSpace, QpAttr, QpState, QpType, RejectReason } from '../ibta/index.js';

/** A queue pair to be connected, as the connection manager knows it. */
export interface CmQp {
  readonly qpNum: number;
  readonly qpType: QpType;
  /** It takes its receive requests from a shared queue. */
  readonly srq: boolean;
  /** The connection manager of this device moves it through its states; otherwise its owner does that. */
  readonly managed: boolean;
}

/** What both sides say of the service they want (`struct rdma_conn_param`). */
export interface CmParameters {
  /** At most as many bytes as `PrivateDataBytes` has for the call. */
  readonly privateData: Uint8Array;
  /** READs and atomics of the peer that may be outstanding here, 0 to 255. */
  readonly responderResources: number;
  /** READs and atomics that may be outstanding towards the peer, 0 to 255. */
  readonly initiatorDepth: number;
  readonly flowControl: boolean;
  /** 0 to 7. */
  readonly rnrRetryCount: number;
}

export interface CmCreateId {
  readonly portSpace: PortSpace;
}

export interface CmBind {
  readonly id: number;
  /** 0 for any that is free. */
  readonly port: number;
  /** Others that said the same may have the port as well, as long as none of them listens. */
  readonly reuseAddr: boolean;
}

/** Sets whether others that say the same may have the port of an identifier as well. */
export interface CmShare {
  readonly id: number;
  readonly reuseAddr: boolean;
}

/** Takes requests that come for the port of an identifier. */
export interface CmListen {
  readonly id: number;
  /** Requests that the program may not have taken yet ({@link CmCommandTable.cmTaken}); 0 for as many as there may be. */
  readonly backlog: number;
}

/** Requests a connection (REQ), or in the port spaces of datagrams a queue pair's number (SIDR_REQ). */
export interface CmConnect extends CmParameters {
  readonly id: number;
  readonly destination: Gid;
  /** 1 to 65535. */
  readonly port: number;
  /** Absent in the port spaces of datagrams. */
  readonly qp?: CmQp | undefined;
  /** What the peer is to do, 0 to 7. */
  readonly retryCount: number;
  /** 8 bits. */
  readonly trafficClass: number;
  /** The option ACK_TIMEOUT, 0 to 31 in 4.096 µs · 2^n, which the queue pair gets as it is; absent for the default. */
  readonly ackTimeout?: number | undefined;
}

export interface CmAccept extends CmParameters {
  readonly id: number;
  readonly qp: CmQp;
  /** Of a datagram queue pair; default `RDMA_UDP_QKEY`. */
  readonly qkey?: number | undefined;
  /** The option ACK_TIMEOUT, 0 to 31 in 4.096 µs · 2^n, which the queue pair gets as it is; absent for what the peer says. */
  readonly ackTimeout?: number | undefined;
}

export interface CmReject {
  readonly id: number;
  readonly privateData: Uint8Array;
  /** Default CONSUMER_DEFINED. */
  readonly reason?: RejectReason | undefined;
}

/** Asks for the attributes that lead a queue pair of the connection to a state. */
export interface CmInitQpAttr {
  readonly id: number;
  /** Of the queue pair, which the program moves itself. */
  readonly qpType: QpType;
  readonly qpState: QpState;
}

/** Every command of the connection manager: `[argument, value]`. */
export interface CmCommandTable {
  cmCreateId: [argument: CmCreateId, value: number];
  /** Gives the port. EADDRINUSE, EADDRNOTAVAIL when none is free, EINVAL when it has one. */
  cmBind: [argument: CmBind, value: number];
  /** EINVAL for an identifier that is not bound, or listens. */
  cmShare: [argument: CmShare, value: undefined];
  /** EADDRINUSE when another has the port, EINVAL for an identifier that is not bound, or in use. */
  cmListen: [argument: CmListen, value: undefined];
  /**
   * EINVAL in a wrong state, or for what no request can say; ENETUNREACH without an address. Gives an identifier that has
   * none a port.
   */
  cmConnect: [argument: CmConnect, value: undefined];
  /** The program has taken the CONNECT_REQUEST of an identifier. EINVAL for an identifier of another kind. */
  cmTaken: [argument: number, value: undefined];
  /** EINVAL when no request waits, for a queue pair of another type, for what no answer can say. */
  cmAccept: [argument: CmAccept, value: undefined];
  /** EINVAL when no request or answer waits, or for too much private data. */
  cmReject: [argument: CmReject, value: undefined];
  /** Completes the connection after CONNECT_RESPONSE: sends the RTU. */
  cmEstablish: [argument: number, value: undefined];
  /** The peer's first message has come before its RTU (COMM_EST). */
  cmNotify: [argument: number, value: undefined];
  cmDisconnect: [argument: number, value: undefined];
  cmInitQpAttr: [argument: CmInitQpAttr, value: Partial<QpAttr>];
  /** Ends an identifier in whatever state, with what the protocol owes the peer (protocol/connections.md 4.4). */
  cmDestroyId: [argument: number, value: undefined];
  /** Takes the oldest events, at most so many. */
  cmTakeEvents: [argument: number, value: readonly CmEvent[]];
}

/** What the peer asks for or grants, from the receiver's point of view. */
export interface CmConnParam {
  readonly responderResources: number;
  readonly initiatorDepth: number;
  readonly flowControl: boolean;
  readonly retryCount: number;
  readonly rnrRetryCount: number;
  readonly srq: boolean;
  /** The peer's. */
  readonly qpNum: number;
}

export interface CmUdParam {
  readonly qpNum: number;
  readonly qkey: number;
}

/** The requester of a connection, and the IDs by which the two sides name it. */
export interface CmRequest {
  readonly listenId: number;
  readonly localGid: Gid;
  readonly localPort: number;
  readonly remoteGid: Gid;
  readonly remotePort: number;
  readonly qpType: QpType;
}

/** Something that happened to an identifier. */
export interface CmEvent {
  readonly type: CmEventType;
  readonly id: number;
  /**
   * 0; of REJECTED the reason, or for datagrams the SIDR status; of UNREACHABLE and errors a negative errno, or for
   * datagrams the SIDR status.
   */
  readonly status: number;
  /** As long as the message can hold, zeros at its end. Empty where the event carries none. */
  readonly privateData: Uint8Array;
  /** Of REJECTED and UNREACHABLE: no peer has said so. The address is this machine's, and no device is there. */
  readonly isAbsent?: boolean;
  /** Of CONNECT_REQUEST, CONNECT_RESPONSE and ESTABLISHED of connections. */
  readonly conn?: CmConnParam;
  /** Of ESTABLISHED of datagrams. */
  readonly ud?: CmUdParam;
  /** Of CONNECT_REQUEST, whose `id` is a new one. */
  readonly request?: CmRequest;
}
