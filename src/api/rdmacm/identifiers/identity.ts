import { CmEventType, gidFromIp, ipFromGid, type PortSpace, type QpType } from '../../../device/ibta/index.js';
import { plainAddress } from '../../../device/wire/index.js';
import type { CmConnParam, CmEvent as CmDeviceEvent, CmRequest } from '../../../device/cm/index.js';
import type { CmArgument, CmValue, CmVerb } from '../../provider/index.js';
import { type Context, refuse, VerbsError } from '../../verbs/index.js';
import { type FullAddress } from '../addresses/address.js';
import type { DeviceChoice } from '../addresses/devices.js';
import { type Dispatcher, dispatcherOf, type EventTarget } from '../events/dispatcher.js';
import { queueOf } from '../events/event-channel.js';
import { eventError } from '../events/event-error.js';
import { EventQueue } from '../events/event-queue.js';
import type { CmEvent, CmId, EventChannel } from '../objects.js';
import { receivedConn, receivedUd } from '../events/received.js';
import { Report, type Reporter, type ReportFields } from '../events/report.js';
import type { QpTemplate } from './parameters.js';
import { isDatagram } from './port-space.js';
import { type IdCall, idCalls, IdState, stateProblem } from './states.js';

/** What `setOption` has set. */
export interface IdOptions {
  trafficClass: number;
  reuseAddr: boolean;
  afOnly: boolean;
  ackTimeout: number | undefined;
}

/** What makes an identity. */
export interface IdentityInit {
  readonly portSpace: PortSpace;
  readonly qpType: QpType;
  /** Without one the identifier is synchronous. */
  readonly channel: EventChannel | undefined;
  readonly devices: DeviceChoice;
  /** Milliseconds that a synchronous call may take. */
  readonly timeoutMs: number | undefined;
}

/** After these there is nothing left that ending a connection could bring about. */
const LAST_EVENTS: readonly CmEventType[] = [
  CmEventType.DISCONNECTED,
  CmEventType.REJECTED,
  CmEventType.UNREACHABLE,
  CmEventType.CONNECT_ERROR,
  CmEventType.DEVICE_REMOVAL,
];

/** States that events bring about. */
const STATE_AFTER: ReadonlyMap<CmEventType, IdState> = new Map([
  [CmEventType.DISCONNECTED, IdState.DISCONNECT],
  [CmEventType.DEVICE_REMOVAL, IdState.REMOVED],
]);

function noDevice(call: string): VerbsError {
  return new VerbsError(call, { errno: 'ENODEV', message: 'the identifier has no device', advice: '' });
}

const identities = new WeakMap<CmId, Identity>();

/** The heart of an identifier that `createId` made. */
export function identityOf(id: CmId): Identity {
  const identity = identities.get(id);
  if (identity === undefined) throw new TypeError('that is not an identifier');
  return identity;
}

/**
 * The heart of an identifier: its state, its device, its events. What `CmId` offers beyond that is built on it in files
 * of its own.
 */
export class Identity implements EventTarget, Reporter {
  readonly portSpace: PortSpace;
  readonly devices: DeviceChoice;
  readonly timeoutMs: number | undefined;
  readonly options: IdOptions = { trafficClass: 0, reuseAddr: false, afOnly: false, ackTimeout: undefined };
  qpType: QpType;
  state: IdState = IdState.IDLE;
  unacknowledged = 0;
  /** Its connection has ended, or came to nothing. */
  isOver = false;
  /** It was bound to no address in particular, so that another device may do as well. */
  boundToAny = false;
  local: FullAddress | undefined;
  peer: FullAddress | undefined;
  /** Of the last call, where calls wait for their events. */
  event: Report | undefined;
  /** What the peer asks for, on the passive side. */
  asked: CmConnParam | undefined;
  channel: EventChannel | undefined;
  queue: EventQueue;
  /** How requests get their queue pairs, where `createEp` said it. */
  template: QpTemplate | undefined;

  #dispatcher: Dispatcher | undefined;
  #number = 0;

  constructor(
    init: IdentityInit,
    readonly id: CmId,
    /** Makes the identifier of a request that has come to this one. */
    private readonly spawn: (init: IdentityInit) => Identity,
  ) {
    this.portSpace = init.portSpace;
    this.qpType = init.qpType;
    this.devices = init.devices;
    this.timeoutMs = init.timeoutMs;
    this.channel = init.channel;
    this.queue = init.channel === undefined ? new EventQueue() : queueOf(init.channel, 'rdma_create_id');
    this.queue.join(this);
    identities.set(id, this);
  }

  get dispatcher(): Dispatcher | undefined {
    return this.#dispatcher;
  }

  get context(): Context | undefined {
    return this.#dispatcher?.context;
  }

  /** Whether its calls wait for their events. */
  get synchronous(): boolean {
    return this.channel === undefined;
  }

  get datagrams(): boolean {
    return isDatagram(this.portSpace);
  }

  /** @throws VerbsError EINVAL when the call cannot be made now */
  require(name: IdCall): void {
    refuse(idCalls[name].call, stateProblem(name, this.state));
  }

  /** The device, for calls whose states all have one. @throws VerbsError EINVAL when the call cannot be made now */
  requireContext(name: IdCall): Context {
    this.require(name);
    if (this.context === undefined) throw noDevice(idCalls[name].call);
    return this.context;
  }

  /** Gives it a device and a port there. @throws VerbsError EADDRINUSE, EADDRNOTAVAIL */
  bindTo(call: string, context: Context, port: number): void {
    const dispatcher = dispatcherOf(context, call);
    const { device } = dispatcher;
    const number = device.execute(call, 'cmCreateId', { portSpace: this.portSpace });
    try {
      const given = device.execute(call, 'cmBind', { id: number, port, reuseAddr: this.options.reuseAddr });
      this.local = { host: plainAddress(context.address), port: given };
    } catch (error) {
      device.execute(call, 'cmDestroyId', number);
      throw error;
    }
    this.#settle(dispatcher, number);
  }

  /** Lets go of the device again. */
  unbind(): void {
    const dispatcher = this.#dispatcher;
    if (dispatcher === undefined) return;
    this.queue.detach(dispatcher);
    this.#dispatcher = undefined;
    dispatcher.end(this.#number);
  }

  /** Has the device do something with it. @throws VerbsError when it refuses */
  command<V extends CmVerb>(call: string, verb: V, argument: (number: number) => CmArgument<V>): CmValue<V> {
    const dispatcher = this.#dispatcher;
    if (dispatcher === undefined) throw noDevice(call);
    return dispatcher.device.execute(call, verb, argument(this.#number));
  }

  /** Raises an event. */
  raise(fields: Omit<ReportFields, 'id'>, also?: Pick<Reporter, 'unacknowledged'>): void {
    this.queue.push(new Report(this, { ...fields, id: this.id }, also));
  }

  /** Raises an event that says what went wrong on this side. */
  raiseError(event: CmEventType, error: VerbsError): void {
    this.raise({ event, status: -error.errnoNumber, error });
  }

  /**
   * Waits for the event of a call, where the identifier is synchronous.
   *
   * @param isDue whether one will come; else what has come is taken, if anything has
   * @throws VerbsError when the event says that the call has failed
   */
  complete(call: string, isDue = true): void {
    if (!this.synchronous) return;
    this.settleEvent();
    this.event = isDue ? this.queue.take(this.timeoutMs) : this.queue.tryTake();
    const error = this.event && eventError(call, this.event);
    if (error !== undefined) throw error;
  }

  /** Acknowledges the event of the last call. */
  settleEvent(): void {
    this.event?.settle();
    this.event = undefined;
  }

  /** Has events go to another channel, or none. @throws VerbsError EINVAL when that was destroyed */
  moveTo(call: string, channel: EventChannel | undefined): void {
    const queue = channel === undefined ? new EventQueue() : queueOf(channel, call);
    this.settleEvent();
    const reports = this.queue.leave(this);
    this.channel = channel;
    this.queue = queue;
    this.queue.join(this);
    for (const report of reports) this.queue.push(report);
  }

  /** The end of it: no event comes any more. */
  finish(): void {
    this.settleEvent();
    this.unbind();
    const reports = this.queue.leave(this);
    this.state = IdState.DESTROYED;
    // Of requests that nobody has seen nobody else can end the identifiers.
    for (const { event, id } of reports) if (event === CmEventType.CONNECT_REQUEST) id.destroy();
  }

  onDeviceEvent(event: CmDeviceEvent): void {
    if (event.request !== undefined) {
      this.#onRequest(event, event.request);
      return;
    }
    this.state = STATE_AFTER.get(event.type) ?? this.state;
    this.isOver ||= LAST_EVENTS.includes(event.type);
    this.raise({ event: event.type, status: event.status, param: this.#param(event) });
  }

  onDeviceLost(error: VerbsError): void {
    // The device may have had time to say so itself.
    if (this.state !== IdState.REMOVED) this.raise({ event: CmEventType.DEVICE_REMOVAL, error });
    this.state = IdState.REMOVED;
  }

  #onRequest(event: CmDeviceEvent, request: CmRequest): void {
    const dispatcher = this.#dispatcher;
    if (dispatcher === undefined) return;
    const child = this.spawn({
      portSpace: this.portSpace,
      qpType: request.qpType,
      channel: this.channel,
      timeoutMs: this.timeoutMs,
      devices: this.devices,
    });
    child.state = IdState.CONNECT;
    child.asked = event.conn;
    child.options.trafficClass = this.options.trafficClass;
    child.local = { host: ipFromGid(request.localGid), port: request.localPort };
    child.peer = { host: ipFromGid(request.remoteGid), port: request.remotePort };
    child.#settle(dispatcher, event.id);
    const param = child.#param(event);
    this.queue.push(new Report(this, { id: child.id, listenId: this.id, event: event.type, param }));
  }

  #param(event: CmDeviceEvent): CmEvent['param'] {
    if (this.datagrams) {
      const peer = this.peer && gidFromIp(this.peer.host);
      const ud = receivedUd(event, peer, this.options.trafficClass);
      return ud === undefined ? {} : { ud };
    }
    const conn = receivedConn(event);
    return conn === undefined ? {} : { conn };
  }

  #settle(dispatcher: Dispatcher, number: number): void {
    this.#dispatcher = dispatcher;
    this.#number = number;
    dispatcher.add(number, this);
    this.queue.attach(dispatcher);
  }
}
