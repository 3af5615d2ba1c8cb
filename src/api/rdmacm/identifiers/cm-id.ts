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
import type { CmRoute, FullAddress, ResolveAddrOptions, SocketAddress } from '../addresses/address.js';
import { bindAddr, resolveAddr, resolveRoute, routeOf } from '../addresses/addressing.js';
import type { Completions } from '../calls/completions.js';
import * as calls from '../calls/connection-calls.js';
import { Messages } from '../calls/messages.js';
import { getRequest, writeCmEvent } from '../calls/get-request.js';
import type { CmEvent, CmId, EventChannel, CmOption, CmOptionValues } from '../objects.js';
import { setOption } from './id-options.js';
import { Identity, identityOf, type IdentityInit } from './identity.js';
import { Memberships } from '../calls/multicast.js';
import { type ConnParam, type IdQpInitAttr, type JoinMcAttr, McJoinFlag } from './parameters.js';
import { CmIdResources } from './cm-id-resources.js';
import { IdState } from './states.js';

let internalResourcesOf: (id: OwnCmId) => CmIdResources;

/** An identifier: what `CmId` says is done by its identity, its queue pairs and its groups. */
export class OwnCmId extends Messages implements CmId {
  context: unknown;

  readonly #identity: Identity;
  readonly #resources: CmIdResources;
  readonly #memberships: Memberships;
  readonly #addrInfo: AddrInfoRequest;

  static {
    internalResourcesOf = (id) => id.#resources;
  }

  /** `createId` makes identifiers for programs. */
  constructor(init: IdentityInit, listener?: CmId) {
    super();
    this.#identity = new Identity(init, this, (request) => new OwnCmId(request, this).#identity);
    this.#resources = new CmIdResources(this.#identity);
    this.#memberships = new Memberships(this.#identity, this.#resources);
    this.#addrInfo = new AddrInfoRequest(this.#identity);
    this.context = listener?.context;
  }

  get qpType(): QpType {
    return this.#identity.qpType;
  }

  get ps(): PortSpace {
    return this.#identity.portSpace;
  }

  get verbs(): Context | undefined {
    return this.#identity.context;
  }

  get channel(): EventChannel | undefined {
    return this.#identity.channel;
  }

  get event(): CmEvent | undefined {
    return this.#identity.event;
  }

  get portNum(): number {
    return this.#identity.context === undefined ? 0 : 1;
  }

  get pd(): Pd | undefined {
    return this.#resources.pd;
  }

  get qp(): Qp | undefined {
    return this.#resources.qp;
  }

  get targetQp(): XrcTargetQp | undefined {
    return this.#resources.targetQp;
  }

  get srq(): Srq | undefined {
    return this.#resources.srq;
  }

  get sendCq(): Cq | undefined {
    return this.#resources.sends?.cq;
  }

  get recvCq(): Cq | undefined {
    return this.#resources.receives?.cq;
  }

  get sendCqChannel(): CompChannel | undefined {
    return this.#resources.sends?.channel;
  }

  get recvCqChannel(): CompChannel | undefined {
    return this.#resources.receives?.channel;
  }

  get localAddr(): FullAddress | undefined {
    return this.#identity.local;
  }

  get peerAddr(): FullAddress | undefined {
    return this.#identity.peer;
  }

  get route(): CmRoute {
    return routeOf(this.#identity);
  }

  getSrcPort(): number {
    return this.#identity.local?.port ?? 0;
  }

  getDstPort(): number {
    return this.#identity.peer?.port ?? 0;
  }

  bindAddr(address: SocketAddress): void {
    bindAddr(this.#identity, address);
  }

  resolveAddr(destination: SocketAddress, options: ResolveAddrOptions = {}): void {
    resolveAddr(this.#identity, destination, options);
  }

  resolveRoute(timeoutMs?: number): void {
    resolveRoute(this.#identity, timeoutMs);
  }

  createQp(pd?: Pd, init: IdQpInitAttr = {}): Qp {
    const qp = this.#resources.createQp(pd, init);
    this.#memberships.attachAll();
    return qp;
  }

  createTargetQp(xrcd?: Xrcd, init?: XrcTargetQpInitAttr): XrcTargetQp {
    return this.#resources.createTargetQp(xrcd, init);
  }

  destroyQp(): void {
    this.#memberships.detachAll();
    this.#resources.destroyQp();
  }

  createSrq(pd: Pd | undefined, init: SrqInitAttr): Srq {
    return this.#resources.createSrq(pd, init);
  }

  destroySrq(): void {
    this.#resources.destroySrq();
  }

  connect(param: ConnParam = {}): void {
    calls.connect(this.#identity, this.#resources, param);
  }

  listen(backlog = 0): void {
    calls.listen(this.#identity, backlog);
  }

  getRequest(timeoutMs?: number): CmId {
    return getRequest(this.#identity, timeoutMs);
  }

  accept(param: ConnParam = {}): void {
    calls.accept(this.#identity, this.#resources, param);
  }

  reject(privateData?: Uint8Array): void {
    calls.reject(this.#identity, privateData);
  }

  establish(): void {
    calls.establish(this.#identity, this.#resources);
  }

  notify(event: EventType): void {
    calls.notify(this.#identity, event);
  }

  disconnect(): void {
    calls.disconnect(this.#identity);
  }

  migrate(channel: EventChannel | undefined): void {
    const call = 'rdma_migrate_id';
    this.#identity.require('migrate');
    if (channel === undefined && this.#identity.synchronous)
      throw new VerbsError(call, invalid('the identifier is synchronous already', 'Name a channel'));
    this.#requireSettled(call);
    this.#identity.moveTo(call, channel);
  }

  setOption<O extends CmOption>(option: O, value: CmOptionValues[O]): void {
    setOption(this.#identity, option, value, 'refuse');
  }

  joinMulticast(group: SocketAddress, context?: unknown): void {
    this.#memberships.join({ addr: group, joinFlags: McJoinFlag.FULLMEMBER }, context);
  }

  joinMulticastEx(attr: JoinMcAttr, context?: unknown): void {
    this.#memberships.join(attr, context);
  }

  leaveMulticast(group: SocketAddress): void {
    this.#memberships.leave(group);
  }

  initQpAttr(qpState: QpState): QpModifyAttr {
    return calls.initQpAttr(this.#identity, this.#resources, qpState);
  }

  resolveAddrInfo(node?: string, service?: string | number, hints: AddrInfoHints = {}): void {
    this.#addrInfo.start(node, service, hints);
  }

  queryAddrInfo(): readonly AddrInfo[] {
    return this.#addrInfo.take();
  }

  writeCmEvent(event: CmEventType, status: number, arg: bigint): void {
    writeCmEvent(this.#identity, event, status, arg);
  }

  destroy(): void {
    this.#identity.require('destroy');
    this.#requireSettled('rdma_destroy_id');
    this.#end();
  }

  destroyEp(): void {
    this.#identity.require('destroy');
    this.#requireSettled('rdma_destroy_ep');
    this.#end();
    this.#resources.end();
  }

  [Symbol.dispose](): void {
    if (this.#identity.state !== IdState.DESTROYED) this.#end();
    this.#resources.end();
  }

  protected get sendCompletions(): Completions | undefined {
    return this.#resources.sends;
  }

  protected get recvCompletions(): Completions | undefined {
    return this.#resources.receives;
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

export function resourcesOf(id: CmId): CmIdResources {
  if (!(id instanceof OwnCmId)) throw new TypeError('that is not an identifier');
  return internalResourcesOf(id);
}

/** `rdma_connect` as the kernel has it: parameters that have no effect are ignored. For `verbena run`. */
export function connectAsLinux(id: CmId, param: ConnParam): void {
  calls.connect(identityOf(id), resourcesOf(id), param, 'ignore');
}

/** `rdma_accept` as the kernel has it. For `verbena run`. */
export function acceptAsLinux(id: CmId, param: ConnParam): void {
  calls.accept(identityOf(id), resourcesOf(id), param, 'ignore');
}

/** `rdma_set_option` as Linux has it: an option that would have no effect any more is ignored. For `verbena run`. */
export function setOptionAsLinux<O extends CmOption>(id: CmId, option: O, value: CmOptionValues[O]): void {
  setOption(identityOf(id), option, value, 'ignore');
}
