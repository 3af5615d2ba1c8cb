import * as connecting from '../connections/connecting.js';
import type { CmEventType, EventType, PortSpace, QpState, QpType } from '../../../device/ibta/index.js';
import {
  type CompChannel,
  type Context,
  type Cq,
  invalid,
  type Pd,
  type Qp,
  type QpModifyAttr,
  type Srq,
  type SrqInitAttr,
  VerbsError,
  type Xrcd,
  type XrcTargetQp,
  type XrcTargetQpInitAttr,
} from '../../verbs/index.js';
import { AddrInfoRequest } from '../addresses/addr-info-request.js';
import type { AddrInfo, AddrInfoHints } from '../addresses/addr-info.js';
import type { FullAddress, SocketAddress } from '../addresses/address.js';
import {
  bindAddr,
  type CmRoute,
  resolveAddr,
  type ResolveAddrOptions,
  resolveRoute,
  routeOf,
} from '../addresses/addressing.js';
import type { Completions } from '../connections/completions.js';
import { Messages } from '../connections/messages.js';
import { getRequest, writeCmEvent } from '../connections/requests.js';
import type { EventChannel } from '../events/event-channel.js';
import type { CmEvent } from '../events/event.js';
import { setOption } from './id-options.js';
import { Identity, type IdentityInit } from './identity.js';
import { type JoinMcAttr, McJoinFlag, Memberships } from './multicast.js';
import type { CmOption, CmOptionValues } from './options.js';
import type { ConnParam, IdQpInitAttr } from './parameters.js';
import { QueuePairs } from './queue-pairs.js';
import { IdState } from './states.js';

let internalPairsOf: (id: CmId) => QueuePairs;

/** `struct rdma_cm_id`: one end of a connection, as a socket is one. `createId` makes one. */
export class CmId extends Messages implements Disposable {
  /** Anything of the caller's. That of a new identifier is its listener's. */
  context: unknown;

  readonly #identity: Identity;
  readonly #pairs: QueuePairs;
  readonly #memberships: Memberships;
  readonly #addrInfo: AddrInfoRequest;

  static {
    internalPairsOf = (id) => id.#pairs;
  }

  /** `createId` makes identifiers for programs. */
  constructor(init: IdentityInit, listener?: CmId) {
    super();
    this.#identity = new Identity(init, this, (request) => new CmId(request, this).#identity);
    this.#pairs = new QueuePairs(this.#identity);
    this.#memberships = new Memberships(this.#identity, this.#pairs);
    this.#addrInfo = new AddrInfoRequest(this.#identity);
    this.context = listener?.context;
  }

  /** Of which type its queue pair is. */
  get qpType(): QpType {
    return this.#identity.qpType;
  }
  /** Which ports it has to do with. */
  get ps(): PortSpace {
    return this.#identity.portSpace;
  }
  /** The device, once there is one: after `bindAddr`, or `resolveAddr`. */
  get verbs(): Context | undefined {
    return this.#identity.context;
  }
  /** Of a synchronous identifier, undefined. */
  get channel(): EventChannel | undefined {
    return this.#identity.channel;
  }
  /** Of a synchronous identifier: the event of the last call. */
  get event(): CmEvent | undefined {
    return this.#identity.event;
  }
  /** Port of the device; 0 while there is none. */
  get portNum(): number {
    return this.#identity.context === undefined ? 0 : 1;
  }
  /** The domain of its objects: that of its queue pair, else one that all identifiers on the device share. */
  get pd(): Pd | undefined {
    return this.#pairs.pd;
  }
  /** Its queue pair, once `createQp` has made it. */
  get qp(): Qp | undefined {
    return this.#pairs.qp;
  }
  /** The queue pair of an identifier of type XRC_RECV. */
  get targetQp(): XrcTargetQp | undefined {
    return this.#pairs.targetQp;
  }
  /** Its shared receive queue, once `createSrq` has made it. */
  get srq(): Srq | undefined {
    return this.#pairs.srq;
  }
  /** The completion queue that `createQp` made. */
  get sendCq(): Cq | undefined {
    return this.#pairs.sends?.cq;
  }
  /** The completion queue that `createQp` or `createSrq` made. */
  get recvCq(): Cq | undefined {
    return this.#pairs.receives?.cq;
  }
  /** The channel of {@link sendCq}. A `Connection`'s identifier has none: connections of a device share one. */
  get sendCqChannel(): CompChannel | undefined {
    return this.#pairs.sends?.channel;
  }
  /** The channel of {@link recvCq}, as {@link sendCqChannel}. */
  get recvCqChannel(): CompChannel | undefined {
    return this.#pairs.receives?.channel;
  }
  /** Its own address (`rdma_get_local_addr`), once it is bound. */
  get localAddr(): FullAddress | undefined {
    return this.#identity.local;
  }
  /** The peer's (`rdma_get_peer_addr`), once it is named. */
  get peerAddr(): FullAddress | undefined {
    return this.#identity.peer;
  }
  /** What is known of the way to the peer. */
  get route(): CmRoute {
    return routeOf(this.#identity);
  }
  /** Its own port, 0 while there is none (`rdma_get_src_port`). */
  getSrcPort(): number {
    return this.#identity.local?.port ?? 0;
  }
  /** The peer's port, 0 while there is none (`rdma_get_dst_port`). */
  getDstPort(): number {
    return this.#identity.peer?.port ?? 0;
  }

  /**
   * Gives it an address of its own (`rdma_bind_addr`), and with that a device. Any address is that of the program's
   * default device; port 0 is one that is free. `::` means IPv6 where there is such a device, otherwise IPv4 as well,
   * unless AFONLY is set.
   *
   * @throws VerbsError EINVAL when it has one, or for an address that is none; ENODEV when none of the devices that it may
   *   use has the address; EADDRNOTAVAIL when this machine has not, or no port is free; EADDRINUSE when the port is taken
   *   (Linux: EADDRNOTAVAIL, where either identifier is bound to any address), or another program's device is at the
   *   address
   */
  bindAddr(address: SocketAddress): void {
    bindAddr(this.#identity, address);
  }

  /**
   * Finds out how to reach a peer, and with that the device (`rdma_resolve_addr`): ADDR_RESOLVED, or ADDR_ERROR with a
   * negative errno as its status: ENODEV, EHOSTUNREACH, or EADDRINUSE when another program's device is where ours would
   * have to be. The way to a multicast group leads by the source, or else by the default device.
   *
   * @throws VerbsError EINVAL in a wrong state or for an address that is none; for the source as {@link bindAddr}
   */
  resolveAddr(destination: SocketAddress, options: ResolveAddrOptions = {}): void {
    resolveAddr(this.#identity, destination, options);
  }

  /**
   * Finds the path to the peer (`rdma_resolve_route`): ROUTE_RESOLVED, or ROUTE_ERROR.
   *
   * @throws VerbsError EINVAL unless the address is resolved, or for a time that is none
   */
  resolveRoute(timeoutMs?: number): void {
    resolveRoute(this.#identity, timeoutMs);
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
    const qp = this.#pairs.createQp(pd, init);
    this.#memberships.attachAll();
    return qp;
  }

  /**
   * The same for an identifier of type XRC_RECV, whose queue pair takes requests only (`rdma_create_qp_ex`).
   *
   * @param xrcd default: one that all identifiers on the device share
   * @throws VerbsError EINVAL for an identifier of another type, and as {@link createQp}
   */
  createTargetQp(xrcd?: Xrcd, init?: XrcTargetQpInitAttr): XrcTargetQp {
    return this.#pairs.createTargetQp(xrcd, init);
  }

  /** Ends its queue pair and what was made for it (`rdma_destroy_qp`). @throws VerbsError EINVAL when it has none */
  destroyQp(): void {
    this.#memberships.detachAll();
    this.#pairs.destroyQp();
  }

  /**
   * Makes a shared receive queue for its queue pair (`rdma_create_srq`, `rdma_create_srq_ex`). One of type XRC, the
   * default of identifiers of type XRC_RECV, gets the shared domain and a completion queue when none are given.
   *
   * @throws VerbsError EINVAL when it has one, or no device; otherwise as `Pd.createSrq`
   */
  createSrq(pd: Pd | undefined, init: SrqInitAttr): Srq {
    return this.#pairs.createSrq(pd, init);
  }

  /** Ends it (`rdma_destroy_srq`). @throws VerbsError EINVAL when it has none; EBUSY while queue pairs use it */
  destroySrq(): void {
    this.#pairs.destroySrq();
  }

  /**
   * Asks the peer for a connection (`rdma_connect`): ESTABLISHED, or CONNECT_RESPONSE when the queue pair is not the
   * identifier's; REJECTED, UNREACHABLE or CONNECT_ERROR. For datagrams it asks for the peer's queue pair.
   *
   * @param param names the queue pair when it was made elsewhere; datagrams need none
   * @throws VerbsError EINVAL unless the route is resolved; without a queue pair and the number of one; for parameters
   *   out of range; or when the peer has no port
   */
  connect(param: ConnParam = {}): void {
    connecting.connect(this.#identity, this.#pairs, param);
  }

  /**
   * Takes requests that come for its port (`rdma_listen`): CONNECT_REQUEST. Without an address it gets any.
   *
   * @param backlog requests that may wait for an answer; 0, the default, for as many as there may be
   * @throws VerbsError EADDRINUSE when another listens there; EINVAL in a wrong state, or for a backlog that is no number
   *   of requests; without an address, as {@link bindAddr}
   */
  listen(backlog = 0): void {
    connecting.listen(this.#identity, backlog);
  }

  /**
   * The next request to a synchronous listener (`rdma_get_request`), a synchronous identifier itself. Blocks the thread
   * until there is one. A listener that `createEp` made gives it a queue pair.
   *
   * @param timeoutMs default: for ever
   * @throws VerbsError EINVAL for an identifier with a channel, or that does not listen; ETIMEDOUT; the errno of an event
   *   that says so
   */
  getRequest(timeoutMs?: number): CmId {
    return getRequest(this.#identity, timeoutMs);
  }

  /**
   * Accepts the request that it stands for (`rdma_accept`): ESTABLISHED follows, but not for datagrams.
   *
   * @param param names the queue pair when it was made elsewhere
   * @throws VerbsError EINVAL in a wrong state; without a queue pair and the number of one; or for parameters out of range
   */
  accept(param: ConnParam = {}): void {
    connecting.accept(this.#identity, this.#pairs, param);
  }

  /**
   * Refuses it (`rdma_reject`).
   *
   * @throws VerbsError EINVAL in a wrong state, or for more bytes than `PrivateDataBytes.REJECT`, for datagrams
   *   `PrivateDataBytes.RESOLVED`
   */
  reject(privateData?: Uint8Array): void {
    connecting.reject(this.#identity, privateData);
  }

  /**
   * Completes a connection whose queue pair is not the identifier's, after CONNECT_RESPONSE (`rdma_establish`).
   *
   * @throws VerbsError EINVAL in a wrong state, or when it has a queue pair
   */
  establish(): void {
    connecting.establish(this.#identity, this.#pairs);
  }

  /**
   * Tells of COMM_EST, that the peer's first message has come (`rdma_notify`). The device notices that by itself for
   * queue pairs that it has.
   *
   * @throws VerbsError EINVAL in a wrong state or for another event; EISCONN when the connection is established already,
   *   which can be ignored
   */
  notify(event: EventType): void {
    connecting.notify(this.#identity, event);
  }

  /**
   * Ends the connection (`rdma_disconnect`): its queue pair goes to ERR, and DISCONNECTED follows on both sides. Whom
   * DISCONNECTED surprises calls it as well, which answers the peer; once more does no harm.
   *
   * @throws VerbsError EINVAL when none was asked for, or the request still waits for an answer, which `destroy` takes back
   *   or refuses; and for datagrams
   */
  disconnect(): void {
    connecting.disconnect(this.#identity);
  }

  /**
   * Has its events go to another channel from now on (`rdma_migrate_id`), with those that nobody took yet.
   *
   * @param channel none makes it synchronous
   * @throws VerbsError EBUSY while events of it are not acknowledged, where the C call would wait; EINVAL when it is
   *   synchronous already, or for a channel that was destroyed
   */
  migrate(channel: EventChannel | undefined): void {
    const call = 'rdma_migrate_id';
    this.#identity.require('migrate');
    if (channel === undefined && this.#identity.synchronous)
      throw new VerbsError(call, invalid('the identifier is synchronous already', 'Name a channel'));
    this.#requireSettled(call);
    this.#identity.moveTo(call, channel);
  }

  /**
   * Sets an option (`rdma_set_option`). REUSEADDR and AFONLY come before the address, the others before `connect`.
   *
   * @throws VerbsError EINVAL for an option that does not exist or a value that it does not take; for REUSEADDR and
   *   AFONLY once there is an address; for ACK_TIMEOUT where nothing is acknowledged, on types other than RC and XRC_SEND
   */
  setOption<O extends CmOption>(option: O, value: CmOptionValues[O]): void {
    setOption(this.#identity, option, value);
  }

  /**
   * Joins a multicast group, and attaches its queue pair to it, now or when it is made (`rdma_join_multicast`):
   * MULTICAST_JOIN, which says how to send to the group, or MULTICAST_ERROR.
   *
   * @param context comes back as `event.multicastContext`
   * @throws VerbsError EINVAL for an address of no group or of the other version of IP, for an identifier that is not for
   *   datagrams, and unless it is bound or its address is resolved; when its route is, too, it is too late
   */
  joinMulticast(group: SocketAddress, context?: unknown): void {
    this.#memberships.join({ addr: group, joinFlags: McJoinFlag.FULLMEMBER }, context);
  }

  /** The same with more to say (`rdma_join_multicast_ex`). @throws VerbsError as there, and EINVAL for unknown flags */
  joinMulticastEx(attr: JoinMcAttr, context?: unknown): void {
    this.#memberships.join(attr, context);
  }

  /**
   * Ends that (`rdma_leave_multicast`).
   *
   * @throws VerbsError EADDRNOTAVAIL when it has not joined the group; EBUSY while an event of the group is not
   *   acknowledged, where the C call would wait; EINVAL for what is no address, or when the device is gone
   */
  leaveMulticast(group: SocketAddress): void {
    this.#memberships.leave(group);
  }

  /**
   * The attributes that lead a queue pair made elsewhere to a state (`rdma_init_qp_attr`): what `Qp.modify` takes.
   *
   * @param qpState INIT, RTR or RTS
   * @throws VerbsError EINVAL without a device; for RTR and RTS until the peer has asked or answered, and once the connection
   *   has ended or has come to nothing
   */
  initQpAttr(qpState: QpState): QpModifyAttr {
    return connecting.initQpAttr(this.#identity, this.#pairs, qpState);
  }

  /**
   * As `getAddrInfo`, but the result is told by ADDRINFO_RESOLVED, and taken by {@link queryAddrInfo}; or by
   * ADDRINFO_ERROR (`rdma_resolve_addrinfo`).
   *
   * @throws VerbsError EBUSY while another is under way or was not taken; EOPNOTSUPP for a name on a synchronous
   *   identifier, which cannot wait for it
   */
  resolveAddrInfo(node?: string, service?: string | number, hints: AddrInfoHints = {}): void {
    this.#addrInfo.start(node, service, hints);
  }

  /** Takes what {@link resolveAddrInfo} found (`rdma_query_addrinfo`). @throws VerbsError ENOENT when there is nothing */
  queryAddrInfo(): readonly AddrInfo[] {
    return this.#addrInfo.take();
  }

  /**
   * Raises an event of the program's own (`rdma_write_cm_event`).
   *
   * @param event USER
   * @param arg 64 bits; comes back as `event.param.arg`
   * @throws VerbsError EINVAL for another event, or an argument out of range
   */
  writeCmEvent(event: CmEventType, status: number, arg: bigint): void {
    writeCmEvent(this.#identity, event, status, arg);
  }

  /**
   * Ends it (`rdma_destroy_id`), with what the protocol owes the peer. Events that nobody took are dropped. Its queue
   * pair, if it has one, goes on without it.
   *
   * @throws VerbsError EBUSY while events of it are not acknowledged, where the C call would wait; EINVAL when it was
   *   ended before
   */
  destroy(): void {
    this.#identity.require('destroy');
    this.#requireSettled('rdma_destroy_id');
    this.#end();
  }

  /** Ends it with its queue pair and shared receive queue (`rdma_destroy_ep`). @throws VerbsError as {@link destroy} */
  destroyEp(): void {
    this.#identity.require('destroy');
    this.#requireSettled('rdma_destroy_ep');
    this.#end();
    this.#pairs.end();
  }

  /** As {@link destroyEp}, whether or not its events are acknowledged; unless it was ended before. */
  [Symbol.dispose](): void {
    if (this.#identity.state !== IdState.DESTROYED) this.#end();
    this.#pairs.end();
  }

  protected get sendCompletions(): Completions | undefined {
    return this.#pairs.sends;
  }

  protected get recvCompletions(): Completions | undefined {
    return this.#pairs.receives;
  }

  /** @throws VerbsError EBUSY while events of it are not acknowledged */
  #requireSettled(call: string): void {
    // That of the last call acknowledges itself.
    const own = this.#identity.event === undefined ? 0 : 1;
    const count = this.#identity.unacknowledged - own;
    if (count <= 0) return;
    const message = `${count} of its events ${count === 1 ? 'is' : 'are'} not acknowledged`;
    throw new VerbsError(call, {
      errno: 'EBUSY',
      message,
      advice: 'Call event.ack(); the C call would wait here for ever',
    });
  }

  #end(): void {
    this.#memberships.detachAll();
    this.#identity.finish();
  }
}

/** The queue pair of an identifier, and what was made for it. */
export function pairsOf(id: CmId): QueuePairs {
  return internalPairsOf(id);
}
