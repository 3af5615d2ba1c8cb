import type { CmEventType, EventType, PortSpace, QpState, QpType } from '../../device/ibta/index.js';
import type {
  CompChannel,
  Context,
  Cq,
  Pd,
  Qp,
  QpModifyAttr,
  Srq,
  SrqInitAttr,
  VerbsError,
  Xrcd,
  XrcTargetQp,
  XrcTargetQpInitAttr,
} from '../verbs/index.js';
import type { AddrInfo, AddrInfoHints } from './addresses/addr-info.js';
import type { CmRoute, FullAddress, ResolveAddrOptions, SocketAddress } from './addresses/address.js';
import type { Messages } from './calls/messages.js';
import type {
  ConnParam,
  ConnParamReceived,
  IdQpInitAttr,
  JoinMcAttr,
  UdParamReceived,
} from './identifiers/parameters.js';

// What rdma_cma.h has as structs: an identifier, its events and the channel that they come by name each other.

/** `struct rdma_cm_event`: something that happened to an identifier. Each is to be acknowledged. */
export interface CmEvent {
  /** Whom it happened to; of CONNECT_REQUEST a new one, which the program has to accept or destroy. */
  readonly id: CmId;
  /** Of CONNECT_REQUEST: who listened. */
  readonly listenId: CmId | undefined;
  readonly event: CmEventType;
  /** 0; of REJECTED the reason (`RejectReason`); of errors a negative errno, or for datagrams a `SidrStatus`. */
  readonly status: number;
  readonly param: {
    /** Of connections. */
    readonly conn?: ConnParamReceived;
    /** Of datagrams and groups. */
    readonly ud?: UdParamReceived;
    /** Of USER: what `writeCmEvent` was given. */
    readonly arg?: bigint;
  };
  /** Of MULTICAST_JOIN and MULTICAST_ERROR: what `joinMulticast` was given. */
  readonly multicastContext: unknown;
  /** Where `status` is an error that was found on this side: the same in a sentence. */
  readonly error: VerbsError | undefined;

  /**
   * Says that the event has been dealt with (`rdma_ack_cm_event`). Until then its identifier cannot be destroyed.
   *
   * @throws VerbsError EINVAL the second time
   */
  ack(): void;
}

/** `struct rdma_event_channel`: where identifiers report what happens to them. `createEventChannel` makes one. */
export interface EventChannel extends Disposable, AsyncIterable<CmEvent> {
  /**
   * The oldest event (`rdma_get_cm_event`). Blocks the thread until there is one.
   *
   * @param timeoutMs default: for ever
   * @throws VerbsError ETIMEDOUT after that long, or when nothing can come: no identifier of the channel has a device,
   *   or in a simulation nothing is left to happen; EIO when a device has failed; EINVAL after destroy
   */
  getCmEvent(timeoutMs?: number): CmEvent;

  /** As {@link getCmEvent}, but undefined when there is no event now: as with O_NONBLOCK, where C gives EAGAIN. */
  tryGetCmEvent(): CmEvent | undefined;

  /**
   * The same events in the event loop, which is not blocked; each must be acknowledged, too. Keeps the process alive only
   * while awaited, and ends when the channel is destroyed.
   */
  [Symbol.asyncIterator](): AsyncIterator<CmEvent, void, undefined>;

  /**
   * Ends the channel (`rdma_destroy_event_channel`).
   *
   * @throws VerbsError EBUSY while identifiers report here, naming them; EINVAL when it was ended before
   */
  destroy(): void;

  /** Ends it, unless it was ended before. */
  [Symbol.dispose](): void;
}

/** `struct rdma_cm_id`: one end of a connection, as a socket is one. `createId` makes one. */
export interface CmId extends Messages, Disposable {
  /** Anything of the caller's. That of a new identifier is its listener's. */
  context: unknown;
  /** Of which type its queue pair is. */
  readonly qpType: QpType;
  /** Which ports it has to do with. */
  readonly ps: PortSpace;
  /**
   * The device, once there is one: after `bindAddr` to an address of a device, or `resolveAddr`. Bound to a wildcard, an identifier
   * has none, as in Linux.
   */
  readonly verbs: Context | undefined;
  /** Of a synchronous identifier, undefined. */
  readonly channel: EventChannel | undefined;
  /** Of a synchronous identifier: the event of the last call. */
  readonly event: CmEvent | undefined;
  /** Port of the device; 0 while there is none. */
  readonly portNum: number;
  /** The domain of its objects: that of its queue pair, else one that all identifiers on the device share. */
  readonly pd: Pd | undefined;
  /** Its queue pair, once `createQp` has made it. */
  readonly qp: Qp | undefined;
  /** The queue pair of an identifier of type XRC_RECV. */
  readonly targetQp: XrcTargetQp | undefined;
  /** Its shared receive queue, once `createSrq` has made it. */
  readonly srq: Srq | undefined;
  /** The completion queue that `createQp` made. */
  readonly sendCq: Cq | undefined;
  /** The completion queue that `createQp` or `createSrq` made. */
  readonly recvCq: Cq | undefined;
  /** The channel of {@link sendCq}. A `Connection`'s identifier has none: connections of a device share one. */
  readonly sendCqChannel: CompChannel | undefined;
  /** The channel of {@link recvCq}, as {@link sendCqChannel}. */
  readonly recvCqChannel: CompChannel | undefined;
  /** Its own address (`rdma_get_local_addr`), once it is bound: `0.0.0.0` or `::` where it is bound to a wildcard. */
  readonly localAddr: FullAddress | undefined;
  /** The peer's (`rdma_get_peer_addr`), once it is named. */
  readonly peerAddr: FullAddress | undefined;
  /** What is known of the way to the peer. */
  readonly route: CmRoute;
  /** Its own port, 0 while there is none (`rdma_get_src_port`). */
  getSrcPort(): number;
  /** The peer's port, 0 while there is none (`rdma_get_dst_port`). */
  getDstPort(): number;

  /**
   * Gives it an address of its own (`rdma_bind_addr`). The address of a device gives it that device. A wildcard gives it the port on
   * all devices that it may use, and on those that the program opens later: `0.0.0.0` on those of IPv4, `::` on all, unless AFONLY
   * says otherwise; no host is both. Port 0 is one that is free on all of them.
   *
   * An identifier that is bound to a wildcard has no device until `resolveAddr` finds one. A queue pair, a shared receive queue or a
   * group that is made of it before (Linux: EINVAL) gives it the default device, and gives the port back on the others.
   *
   * @throws VerbsError EINVAL when it has one, or for an address that is none; EADDRNOTAVAIL when none of the devices that it may
   *   use has the address, or this machine does not have it, or no port is free; EADDRINUSE when the port is taken (Linux:
   *   EADDRNOTAVAIL, where either identifier is bound to a wildcard), or another program's device is at the address; as
   *   `openDevice`, where a wildcard needs a device that is opened first
   */
  bindAddr(address: SocketAddress): void;

  /**
   * Finds out how to reach a peer, and with that the device. A wildcard is the program itself (`rdma_resolve_addr`): ADDR_RESOLVED, or ADDR_ERROR with a
   * negative errno as its status: ENODEV, EHOSTUNREACH, or EADDRINUSE when another program's device is where ours would
   * have to be. The way to a multicast group leads by the source, or else by the default device.
   *
   * @throws VerbsError EINVAL in a wrong state or for an address that is none; for the source as {@link bindAddr}
   */
  resolveAddr(destination: SocketAddress, options?: ResolveAddrOptions): void;

  /**
   * Finds the path to the peer (`rdma_resolve_route`): ROUTE_RESOLVED, or ROUTE_ERROR.
   *
   * @throws VerbsError EINVAL unless the address is resolved, or for a time that is none
   */
  resolveRoute(timeoutMs?: number): void;

  /**
   * Makes its queue pair (`rdma_create_qp`), which the connection manager then moves through its states. A connected one
   * goes to INIT, so that receive requests can be posted; one for datagrams to RTS, with Q_Key `RDMA_UDP_QKEY`.
   *
   * @param pd default: that of the identifier, `pd`
   * @throws VerbsError EINVAL when it has one, has no device, or for a domain of another device; otherwise as
   *   `Pd.createQp`
   */
  createQp(pd?: Pd, init?: IdQpInitAttr): Qp;

  /**
   * The same for an identifier of type XRC_RECV, whose queue pair takes requests only (`rdma_create_qp_ex`).
   *
   * @param xrcd default: one that all identifiers on the device share
   * @throws VerbsError EINVAL for an identifier of another type, and as {@link createQp}
   */
  createTargetQp(xrcd?: Xrcd, init?: XrcTargetQpInitAttr): XrcTargetQp;

  /** Ends its queue pair and what was made for it (`rdma_destroy_qp`). @throws VerbsError EINVAL when it has none */
  destroyQp(): void;

  /**
   * Makes a shared receive queue for its queue pair (`rdma_create_srq`, `rdma_create_srq_ex`). One of type XRC, the
   * default of identifiers of type XRC_RECV, gets the shared domain and a completion queue when none are given.
   *
   * @throws VerbsError EINVAL when it has one, or no device; otherwise as `Pd.createSrq`
   */
  createSrq(pd: Pd | undefined, init: SrqInitAttr): Srq;

  /** Ends it (`rdma_destroy_srq`). @throws VerbsError EINVAL when it has none; EBUSY while queue pairs use it */
  destroySrq(): void;

  /**
   * Asks the peer for a connection (`rdma_connect`): ESTABLISHED, or CONNECT_RESPONSE when the queue pair is not the
   * identifier's; REJECTED, UNREACHABLE or CONNECT_ERROR. For datagrams it asks for the peer's queue pair.
   *
   * @param param names the queue pair when it was made elsewhere; datagrams need none
   * @throws VerbsError EINVAL unless the route is resolved; without a queue pair and the number of one; for parameters
   *   out of range; or when the peer has no port
   */
  connect(param?: ConnParam): void;

  /**
   * Takes requests that come for its port (`rdma_listen`): CONNECT_REQUEST. Bound to a wildcard, or to nothing, it listens on all
   * devices; the identifier of a request has the device that the request came by.
   *
   * @param backlog requests that the program has not taken from the channel; 0, the default, for the most, 1024. A request beyond
   *   that is dropped, and gets in by a later repeat
   * @throws VerbsError EADDRINUSE when another identifier has the port, REUSEADDR or not; EINVAL in a wrong state, or for a backlog that is not a number
   *   of requests; without an address, as {@link bindAddr}
   */
  listen(backlog?: number): void;

  /**
   * The next request to a synchronous listener (`rdma_get_request`), a synchronous identifier itself. Blocks the thread
   * until there is one. A listener that `createEp` made gives it a queue pair.
   *
   * @param timeoutMs default: for ever
   * @throws VerbsError EINVAL for an identifier with a channel, or that does not listen; ETIMEDOUT; the errno of an event
   *   that says so
   */
  getRequest(timeoutMs?: number): CmId;

  /**
   * Accepts the request that it stands for (`rdma_accept`): ESTABLISHED follows, but not for datagrams.
   *
   * @param param names the queue pair when it was made elsewhere
   * @throws VerbsError EINVAL in a wrong state; without a queue pair and the number of one; or for parameters out of range
   */
  accept(param?: ConnParam): void;

  /**
   * Refuses it (`rdma_reject`).
   *
   * @throws VerbsError EINVAL in a wrong state, or for more bytes than `PrivateDataBytes.REJECT`, for datagrams
   *   `PrivateDataBytes.RESOLVED`
   */
  reject(privateData?: Uint8Array): void;

  /**
   * Completes a connection whose queue pair is not the identifier's, after CONNECT_RESPONSE (`rdma_establish`).
   *
   * @throws VerbsError EINVAL in a wrong state, or when it has a queue pair
   */
  establish(): void;

  /**
   * Tells of COMM_EST, that the peer's first message has come (`rdma_notify`). The device notices that by itself for
   * queue pairs that it has.
   *
   * @throws VerbsError EINVAL in a wrong state or for another event; EISCONN when the connection is established already,
   *   which can be ignored
   */
  notify(event: EventType): void;

  /**
   * Ends the connection (`rdma_disconnect`): its queue pair goes to ERR, and DISCONNECTED follows on both sides. Whom
   * DISCONNECTED surprises calls it as well, which answers the peer; once more does no harm.
   *
   * @throws VerbsError EINVAL when none was asked for, or the request still waits for an answer, which `destroy` takes back
   *   or refuses; and for datagrams
   */
  disconnect(): void;

  /**
   * Has its events go to another channel from now on (`rdma_migrate_id`), with those that nobody took yet.
   *
   * @param channel none makes it synchronous
   * @throws VerbsError EBUSY while events of it are not acknowledged, where the C call would wait; EINVAL when it is
   *   synchronous already, or for a channel that was destroyed
   */
  migrate(channel: EventChannel | undefined): void;

  /**
   * Sets an option (`rdma_set_option`).
   *
   * - REUSEADDR: true until `listen`, false only before there is an address.
   * - AFONLY: until `listen` or `resolveAddr`.
   * - TOS: on the side that connects, until `connect`. The side that accepts takes the peer's. For datagrams at any time.
   * - ACK_TIMEOUT: until `connect` or `accept`, on either side; with a queue pair that the program leads itself, until
   *   it asks `initQpAttr` for RTS. A listener's is not its requests'.
   *
   * @throws VerbsError EINVAL for an option that does not exist or a value that it does not take, and where it would have no
   *   effect; for ACK_TIMEOUT where nothing is acknowledged, on types other than RC and XRC_SEND
   */
  setOption<O extends CmOption>(option: O, value: CmOptionValues[O]): void;

  /**
   * Joins a multicast group, and attaches its queue pair to it, now or when it is made (`rdma_join_multicast`):
   * MULTICAST_JOIN, which says how to send to the group, or MULTICAST_ERROR.
   *
   * @param context comes back as `event.multicastContext`
   * @throws VerbsError EINVAL for an address of no group or of the other version of IP, for an identifier that is not for
   *   datagrams, and unless it is bound or its address is resolved; when its route is, too, it is too late
   */
  joinMulticast(group: SocketAddress, context?: unknown): void;

  /** The same with more to say (`rdma_join_multicast_ex`). @throws VerbsError as there, and EINVAL for unknown flags */
  joinMulticastEx(attr: JoinMcAttr, context?: unknown): void;

  /**
   * Ends that (`rdma_leave_multicast`).
   *
   * @throws VerbsError EADDRNOTAVAIL when it has not joined the group; EBUSY while an event of the group is not
   *   acknowledged, where the C call would wait; EINVAL for what is not an address, or when the device is gone
   */
  leaveMulticast(group: SocketAddress): void;

  /**
   * The attributes that lead a queue pair made elsewhere to a state (`rdma_init_qp_attr`): what `Qp.modify` takes.
   *
   * @param qpState INIT, RTR or RTS
   * @throws VerbsError EINVAL without a device; for RTR and RTS until the peer has asked or answered, and once the connection
   *   has ended or has come to nothing
   */
  initQpAttr(qpState: QpState): QpModifyAttr;

  /**
   * As `getAddrInfo`, but the result is told by ADDRINFO_RESOLVED, and taken by {@link queryAddrInfo}; or by
   * ADDRINFO_ERROR (`rdma_resolve_addrinfo`).
   *
   * @throws VerbsError EBUSY while another is under way or was not taken; EOPNOTSUPP for a name on a synchronous
   *   identifier, which cannot wait for it
   */
  resolveAddrInfo(node?: string, service?: string | number, hints?: AddrInfoHints): void;

  /** Takes what {@link resolveAddrInfo} found (`rdma_query_addrinfo`). @throws VerbsError ENOENT when there is nothing */
  queryAddrInfo(): readonly AddrInfo[];

  /**
   * Raises an event of the program's own (`rdma_write_cm_event`).
   *
   * @param event USER
   * @param arg 64 bits; comes back as `event.param.arg`
   * @throws VerbsError EINVAL for another event, or an argument out of range
   */
  writeCmEvent(event: CmEventType, status: number, arg: bigint): void;

  /**
   * Ends it (`rdma_destroy_id`), with what the protocol owes the peer. Events that nobody took are dropped. Its queue
   * pair, if it has one, goes on without it.
   *
   * @throws VerbsError EBUSY while events of it are not acknowledged, where the C call would wait; EINVAL when it was
   *   ended before
   */
  destroy(): void;

  /** Ends it with its queue pair and shared receive queue (`rdma_destroy_ep`). @throws VerbsError as {@link destroy} */
  destroyEp(): void;
  /** As {@link destroyEp}, whether or not its events are acknowledged; unless it was ended before. */
  [Symbol.dispose](): void;
}

/** What of an identifier can be set (`RDMA_OPTION_ID_*` of `rdma_set_option`). */
export const CmOption = { TOS: 0, REUSEADDR: 1, AFONLY: 2, ACK_TIMEOUT: 3 } as const;
export type CmOption = (typeof CmOption)[keyof typeof CmOption];

/** What each option takes. */
export interface CmOptionValues {
  /** Type of service of the IP header, 8 bits. */
  readonly [CmOption.TOS]: number;
  /** Whether others that say the same may be bound to the port as well. To listen, an identifier must have its port alone. */
  readonly [CmOption.REUSEADDR]: boolean;
  /** Whether a wildcard takes requests of its own version of IP only. Default: `0.0.0.0` does, `::` takes both. */
  readonly [CmOption.AFONLY]: boolean;
  /** How long the peer may take to acknowledge: 0 to 31, in 4.096 µs · 2^n (protocol/connections.md 4.2). */
  readonly [CmOption.ACK_TIMEOUT]: number;
}
