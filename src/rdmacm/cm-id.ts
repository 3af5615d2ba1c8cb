import type { CmEventType, EventType, Gid, Mtu, PortSpace, QpState, QpType } from '../spec/index.js';
import type {
  CompChannel,
  Context,
  Cq,
  Pd,
  Qp,
  QpModifyAttr,
  Srq,
  SrqInitAttr,
  Xrcd,
  XrcTargetQp,
  XrcTargetQpInitAttr,
} from '../verbs/index.js';
import type { AddrInfo, AddrInfoHints } from './addr-info.js';
import type { FullAddress, SocketAddress } from './address.js';
import type { CmEvent } from './event.js';
import type { EventChannel } from './event-channel.js';
import { Messages } from './messages.js';
import type { JoinMcAttr } from './multicast.js';
import { notYet } from './not-yet.js';
import type { CmOption, CmOptionValues } from './options.js';
import type { ConnParam, IdQpInitAttr } from './parameters.js';

/** What `createId` can be asked for. */
export interface CreateIdOptions {
  /** Anything of the caller's; comes back as `id.context`. */
  readonly context?: unknown;
  /** As in `EventChannelOptions`; default: those of the channel. */
  readonly contexts?: readonly Context[];
  /** Default: RC in the port spaces TCP and IB, UD in UDP and IPOIB. XRC_SEND and XRC_RECV need saying. */
  readonly qpType?: QpType;
}

/** What is known of the way to the peer (`struct rdma_route`). */
export interface CmRoute {
  readonly localGid: Gid | undefined;
  readonly remoteGid: Gid | undefined;
  /** Once the route is resolved. */
  readonly pathMtu: Mtu | undefined;
}

/**
 * Makes an identifier (`rdma_create_id`).
 *
 * @param channel where its events go. Without one it is synchronous: each call waits for its event, which is then
 *   `id.event`, and throws when that says so
 * @throws VerbsError EINVAL for a port space that does not exist, or a channel that was destroyed
 */
export function createId(channel: EventChannel | undefined, portSpace: PortSpace, options: CreateIdOptions = {}): CmId {
  return notYet(channel, portSpace, options);
}

/** `struct rdma_cm_id`: one end of a connection, as a socket is one. `createId` makes one. */
export class CmId extends Messages implements Disposable {
  /** Anything of the caller's. That of a new identifier is its listener's. */
  context: unknown = undefined;

  /** Of which type its queue pair is. */
  get qpType(): QpType {
    return notYet();
  }
  get ps(): PortSpace {
    return notYet();
  }
  /** The device, once there is one: after `bindAddr`, or `resolveAddr`. */
  get verbs(): Context | undefined {
    return notYet();
  }
  /** Of a synchronous identifier, undefined. */
  get channel(): EventChannel | undefined {
    return notYet();
  }
  /** Of a synchronous identifier: the event of the last call. */
  get event(): CmEvent | undefined {
    return notYet();
  }
  /** Port of the device; 0 while there is none. */
  get portNum(): number {
    return notYet();
  }
  /** The domain of its objects: that of its queue pair, else one that all identifiers on the device share. */
  get pd(): Pd | undefined {
    return notYet();
  }
  get qp(): Qp | undefined {
    return notYet();
  }
  /** The queue pair of an identifier of type XRC_RECV. */
  get targetQp(): XrcTargetQp | undefined {
    return notYet();
  }
  get srq(): Srq | undefined {
    return notYet();
  }
  /** The completion queue that `createQp` made. */
  get sendCq(): Cq | undefined {
    return notYet();
  }
  /** The completion queue that `createQp` or `createSrq` made. */
  get recvCq(): Cq | undefined {
    return notYet();
  }
  get sendCqChannel(): CompChannel | undefined {
    return notYet();
  }
  get recvCqChannel(): CompChannel | undefined {
    return notYet();
  }
  /** Its own address (`rdma_get_local_addr`), once it is bound. */
  get localAddr(): FullAddress | undefined {
    return notYet();
  }
  /** The peer's (`rdma_get_peer_addr`), once it is named. */
  get peerAddr(): FullAddress | undefined {
    return notYet();
  }
  get route(): CmRoute {
    return notYet();
  }
  /** Its own port, 0 while there is none (`rdma_get_src_port`). */
  getSrcPort(): number {
    return notYet();
  }
  /** The peer's port, 0 while there is none (`rdma_get_dst_port`). */
  getDstPort(): number {
    return notYet();
  }

  /**
   * Gives it an address of its own (`rdma_bind_addr`), and with that a device. Any address is that of the program's
   * default device; port 0 is one that is free.
   *
   * @throws VerbsError EINVAL when it has one, or for an address that is none; ENODEV when no device has the address;
   *   EADDRINUSE when the port is taken, or another program's device is at the address; EADDRNOTAVAIL when no port is free
   */
  bindAddr(address: SocketAddress): void {
    notYet(address);
  }

  /**
   * Finds out how to reach a peer, and with that the device (`rdma_resolve_addr`): ADDR_RESOLVED, or ADDR_ERROR with a
   * negative errno as its status: ENODEV, EHOSTUNREACH, EADDRINUSE.
   *
   * @throws VerbsError EINVAL in a wrong state or for an address that is none; ENODEV when no device has the source
   */
  resolveAddr(destination: SocketAddress, options: { source?: SocketAddress; timeoutMs?: number } = {}): void {
    notYet(destination, options);
  }

  /**
   * Finds the path to the peer (`rdma_resolve_route`): ROUTE_RESOLVED, or ROUTE_ERROR.
   *
   * @throws VerbsError EINVAL unless the address is resolved
   */
  resolveRoute(timeoutMs?: number): void {
    notYet(timeoutMs);
  }

  /**
   * Makes its queue pair (`rdma_create_qp`), which the connection manager then moves through its states. A connected one
   * goes to INIT, so that receive requests can be posted; one for datagrams to RTS, with Q_Key `RDMA_UDP_QKEY`.
   *
   * @param pd default: {@link pd}
   * @throws VerbsError EINVAL when it has one, has no device, or for a domain of another device; otherwise as
   *   `Pd.createQp`
   */
  createQp(pd?: Pd, init: IdQpInitAttr = {}): Qp {
    return notYet(pd, init);
  }

  /**
   * The same for an identifier of type XRC_RECV, whose queue pair takes requests only (`rdma_create_qp_ex`).
   *
   * @param xrcd default: one that all identifiers on the device share
   * @throws VerbsError EINVAL for an identifier of another type, and as {@link createQp}
   */
  createTargetQp(xrcd?: Xrcd, init?: XrcTargetQpInitAttr): XrcTargetQp {
    return notYet(xrcd, init);
  }

  /** Ends its queue pair and what was made for it (`rdma_destroy_qp`). @throws VerbsError EINVAL when it has none */
  destroyQp(): void {
    notYet();
  }

  /**
   * Makes a shared receive queue for its queue pair (`rdma_create_srq`, `rdma_create_srq_ex`). One of type XRC, the
   * default of identifiers of type XRC_RECV, gets the shared domain and a completion queue when none are given.
   *
   * @throws VerbsError EINVAL when it has one, or no device; otherwise as `Pd.createSrq`
   */
  createSrq(pd: Pd | undefined, init: SrqInitAttr): Srq {
    return notYet(pd, init);
  }

  /** Ends it (`rdma_destroy_srq`). @throws VerbsError EINVAL when it has none; EBUSY while queue pairs use it */
  destroySrq(): void {
    notYet();
  }

  /**
   * Asks the peer for a connection (`rdma_connect`): ESTABLISHED, or CONNECT_RESPONSE when the queue pair is not the
   * identifier's; REJECTED, UNREACHABLE or CONNECT_ERROR. For datagrams it asks for the peer's queue pair.
   *
   * @throws VerbsError EINVAL unless the route is resolved, without a queue pair, or for parameters out of range
   */
  connect(param: ConnParam = {}): void {
    notYet(param);
  }

  /**
   * Takes requests that come for its port (`rdma_listen`): CONNECT_REQUEST. Without an address it gets any.
   *
   * @param backlog requests that may wait for an answer; 0, the default, for as many as there may be
   * @throws VerbsError EADDRINUSE when another listens there; EINVAL in a wrong state
   */
  listen(backlog?: number): void {
    notYet(backlog);
  }

  /**
   * The next request to a synchronous listener (`rdma_get_request`), a synchronous identifier itself. Blocks the thread
   * until there is one. A listener that `createEp` made gives it a queue pair.
   *
   * @param timeoutMs default: for ever
   * @throws VerbsError EINVAL for an identifier with a channel; ETIMEDOUT; the errno of an event that says so
   */
  getRequest(timeoutMs?: number): CmId {
    return notYet(timeoutMs);
  }

  /**
   * Accepts the request that it stands for (`rdma_accept`): ESTABLISHED follows.
   *
   * @throws VerbsError EINVAL in a wrong state, without a queue pair, or for parameters out of range
   */
  accept(param: ConnParam = {}): void {
    notYet(param);
  }

  /**
   * Refuses it (`rdma_reject`).
   *
   * @throws VerbsError EINVAL in a wrong state, or for more than `PrivateDataBytes.REJECT` bytes
   */
  reject(privateData?: Uint8Array): void {
    notYet(privateData);
  }

  /**
   * Completes a connection whose queue pair is not the identifier's, after CONNECT_RESPONSE (`rdma_establish`).
   *
   * @throws VerbsError EINVAL in a wrong state, or when it has a queue pair
   */
  establish(): void {
    notYet();
  }

  /** Tells of COMM_EST, that the peer's first message has come (`rdma_notify`). @throws VerbsError EINVAL in a wrong state */
  notify(event: EventType): void {
    notYet(event);
  }

  /**
   * Ends the connection (`rdma_disconnect`): its queue pair goes to ERR, and DISCONNECTED follows on both sides.
   *
   * @throws VerbsError EINVAL when there never was one
   */
  disconnect(): void {
    notYet();
  }

  /**
   * Has its events go to another channel from now on (`rdma_migrate_id`), with those that nobody took yet.
   *
   * @param channel none makes it synchronous
   * @throws VerbsError EBUSY while events of it are not acknowledged, where the C call would wait; EINVAL when it is
   *   synchronous already, or for a channel that was destroyed
   */
  migrate(channel: EventChannel | undefined): void {
    notYet(channel);
  }

  /** Sets an option (`rdma_set_option`). @throws VerbsError EINVAL for a value it does not take, or in a wrong state */
  setOption<O extends CmOption>(option: O, value: CmOptionValues[O]): void {
    notYet(option, value);
  }

  /**
   * Joins a multicast group, and attaches its queue pair to it (`rdma_join_multicast`): MULTICAST_JOIN, which says how to
   * send to the group, or MULTICAST_ERROR.
   *
   * @param context comes back as `event.multicastContext`
   * @throws VerbsError EINVAL for an address of no group, an identifier that is not for datagrams, or one without a device
   */
  joinMulticast(group: SocketAddress, context?: unknown): void {
    notYet(group, context);
  }

  /** The same with more to say (`rdma_join_multicast_ex`). Errors as there. */
  joinMulticastEx(attr: JoinMcAttr, context?: unknown): void {
    notYet(attr, context);
  }

  /** Ends that (`rdma_leave_multicast`). @throws VerbsError EADDRNOTAVAIL when it has not joined the group */
  leaveMulticast(group: SocketAddress): void {
    notYet(group);
  }

  /**
   * The attributes that lead a queue pair made elsewhere to a state (`rdma_init_qp_attr`): what `Qp.modify` takes.
   *
   * @param qpState INIT, RTR or RTS
   * @throws VerbsError EINVAL when the connection is not that far
   */
  initQpAttr(qpState: QpState): QpModifyAttr {
    return notYet(qpState);
  }

  /**
   * As `getAddrInfo`, but the result is told by ADDRINFO_RESOLVED, and taken by {@link queryAddrInfo}; or by
   * ADDRINFO_ERROR (`rdma_resolve_addrinfo`).
   *
   * @throws VerbsError EBUSY while another is under way or was not taken; EOPNOTSUPP for a name on a synchronous
   *   identifier, which cannot wait for it
   */
  resolveAddrInfo(node?: string, service?: string | number, hints?: AddrInfoHints): void {
    notYet(node, service, hints);
  }

  /** Takes what {@link resolveAddrInfo} found (`rdma_query_addrinfo`). @throws VerbsError ENOENT when there is nothing */
  queryAddrInfo(): readonly AddrInfo[] {
    return notYet();
  }

  /**
   * Raises an event of the program's own (`rdma_write_cm_event`).
   *
   * @param event USER
   * @param arg 64 bits; comes back as `event.param.arg`
   * @throws VerbsError EINVAL for another event
   */
  writeCmEvent(event: CmEventType, status: number, arg: bigint): void {
    notYet(event, status, arg);
  }

  /**
   * Ends it (`rdma_destroy_id`), with what the protocol owes the peer. Events that nobody took are dropped. Its queue
   * pair, if it has one, goes on without it.
   *
   * @throws VerbsError EBUSY while events of it are not acknowledged, where the C call would wait; EINVAL when it was
   *   ended before
   */
  destroy(): void {
    notYet();
  }

  /** Ends it with its queue pair and shared receive queue (`rdma_destroy_ep`). @throws VerbsError as {@link destroy} */
  destroyEp(): void {
    notYet();
  }

  /** {@link destroyEp}, unless it was ended before. */
  [Symbol.dispose](): void {
    notYet();
  }
}
