import {
  CmEventType,
  gidFromIp,
  ipFromGid,
  nameOf,
  type PortSpace,
  type QpType,
  RejectReason,
} from '../../../device/ibta/index.js';
import { plainAddress } from '../../../device/wire/index.js';
import {
  type CmConnParam,
  type CmEvent as CmDeviceEvent,
  type CmRequest,
  isDatagramSpace,
} from '../../../device/cm/index.js';
import type { CmArgument, CmValue, CmVerb } from '../../provider/index.js';
import { type Context, invalid, refuse, VerbsError } from '../../verbs/index.js';
import type { FullAddress } from '../addresses/address.js';
import type { DeviceChoice } from '../addresses/devices.js';
import type { Wildcard } from '../addresses/wildcard.js';
import { type Dispatcher, dispatcherOf, type EventTarget } from '../events/dispatcher.js';
import { queueOf } from '../events/event-channel.js';
import { eventError, RefusedError } from '../events/event-error.js';
import { EventQueue } from '../events/event-queue.js';
import type { CmEvent, CmId, EventChannel } from '../objects.js';
import { receivedConn, receivedUd } from '../events/received.js';
import { Report, type Reporter, type ReportFields } from '../events/report.js';
import type { QpTemplate } from './parameters.js';
import { type IdCall, idCalls, IdState, stateProblem } from './states.js';
import { WildcardBinding } from './wildcard-binding.js';

/** What `setOption` has set. */
export interface IdOptions {
  trafficClass: number;
  reuseAddr: boolean;
  /** Undefined where the program has not set it. */
  afOnly: boolean | undefined;
  ackTimeout: number | undefined;
}

export interface IdentityInit {
  readonly portSpace: PortSpace;
  readonly qpType: QpType;
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
  return new VerbsError(
    call,
    invalid(
      'the identifier is bound to no device in particular',
      'It has a device once it is bound to an address of one, or resolveAddr has found one',
    ),
  );
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
  readonly options: IdOptions = { trafficClass: 0, reuseAddr: false, afOnly: undefined, ackTimeout: undefined };
  qpType: QpType;
  state: IdState = IdState.IDLE;
  unacknowledged = 0;
  /** Its connection has ended, or came to nothing. */
  isOver = false;
  /** Its port on all devices, while it is bound to a wildcard address. */
  binding: WildcardBinding | undefined;
  local: FullAddress | undefined;
  peer: FullAddress | undefined;
  /** Of the last call, where calls wait for their events. */
  event: Report | undefined;
  /** What the peer asks for, on the passive side. */
  asked: CmConnParam | undefined;
  /** Its queue pair is led through its states by the device, as the connection says. */
  leadsQp = false;
  /** It stands for a request, whose port is the listener's. */
  isRequest = false;
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

  get dispatchers(): readonly Dispatcher[] {
    if (this.binding !== undefined) return this.binding.dispatchers;
    return this.#dispatcher === undefined ? [] : [this.#dispatcher];
  }

  get context(): Context | undefined {
    return this.#dispatcher?.context;
  }

  get label(): string {
    const { state, local, peer } = this;
    const at = ({ host, port }: FullAddress): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const own = local === undefined ? '' : ` at ${at(local)}`;
    if (state === IdState.LISTEN) return `the identifier that listens${own}`;
    return `the identifier in state ${nameOf(IdState, state)}${own}${peer === undefined ? '' : ` to ${at(peer)}`}`;
  }

  get ownsPort(): boolean {
    return this.#dispatcher !== undefined && !this.isRequest;
  }

  /** Whether its calls wait for their events. */
  get synchronous(): boolean {
    return this.channel === undefined;
  }

  get datagrams(): boolean {
    return isDatagramSpace(this.portSpace);
  }

  /** @throws VerbsError EINVAL when the call cannot be made now */
  require(name: IdCall): void {
    refuse(idCalls[name].call, stateProblem(name, this.state));
  }

  /** The device, for calls whose states all have one. @throws VerbsError EINVAL when the call cannot be made now */
  requireContext(name: IdCall): Context {
    this.require(name);
    const { call } = idCalls[name];
    const context = this.context ?? this.#standIn?.context;
    if (context === undefined) throw noDevice(call);
    return context;
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

  /** Gives it a port of all devices. @throws VerbsError EADDRINUSE, EADDRNOTAVAIL, or as `openDevice` */
  bindEverywhere(call: string, wildcard: Wildcard, port: number): void {
    const binding = new WildcardBinding(this, wildcard);
    binding.bind(call, port);
    this.binding = binding;
    this.local = { host: wildcard.host, port: binding.port };
  }

  /** Gives it one device, with the port that it has everywhere. @throws VerbsError as {@link bindTo} */
  settleOn(call: string, context: Context): void {
    const { binding } = this;
    const dispatcher = dispatcherOf(context, call);
    const number = binding?.settleOn(dispatcher);
    if (binding === undefined || number === undefined) {
      this.bindTo(call, context, binding?.port ?? 0);
      binding?.release();
    } else {
      this.local = { host: plainAddress(context.address), port: binding.port };
      this.#settle(dispatcher, number);
    }
    this.binding = undefined;
  }

  /** Has something that is of one device: a wildcard leaves the others. */
  settle(call: string): void {
    const context = this.binding?.preferred?.context;
    if (context !== undefined) this.settleOn(call, context);
  }

  /** Lets go of the device again. */
  unbind(): void {
    this.binding?.release();
    this.binding = undefined;
    const dispatcher = this.#dispatcher;
    if (dispatcher === undefined) return;
    this.queue.detach(dispatcher);
    this.#dispatcher = undefined;
    dispatcher.end(this.#number);
  }

  /** Has the device do something with it. @throws VerbsError when it refuses */
  command<V extends CmVerb>(call: string, verb: V, argument: (number: number) => CmArgument<V>): CmValue<V> {
    const dispatcher = this.#dispatcher ?? this.#standIn;
    const number = this.binding?.numberOn(dispatcher) ?? this.#number;
    if (dispatcher === undefined) throw noDevice(call);
    return dispatcher.device.execute(call, verb, argument(number));
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

  onDeviceEvent(event: CmDeviceEvent, from: Dispatcher): void {
    if (event.request !== undefined) {
      this.#onRequest(event, event.request, from);
      return;
    }
    if (event.type === CmEventType.DEVICE_REMOVAL && this.binding?.lose(from) === true) return;
    this.state = STATE_AFTER.get(event.type) ?? this.state;
    this.isOver ||= LAST_EVENTS.includes(event.type);
    const absence = event.isAbsent === true ? { error: this.#absenceError(event.status) } : {};
    this.raise({ event: event.type, status: event.status, param: this.#param(event), ...absence });
  }

  onDeviceLost(error: VerbsError, from: Dispatcher): void {
    // A wildcard goes on with the other devices.
    if (this.binding?.lose(from) === true) return;
    // The device may have had time to say so itself.
    if (this.state !== IdState.REMOVED) this.raise({ event: CmEventType.DEVICE_REMOVAL, error });
    this.state = IdState.REMOVED;
  }

  #onRequest(event: CmDeviceEvent, request: CmRequest, dispatcher: Dispatcher): void {
    const child = this.spawn({
      portSpace: this.portSpace,
      qpType: request.qpType,
      channel: this.channel,
      timeoutMs: this.timeoutMs,
      devices: this.devices,
    });
    child.state = IdState.CONNECT;
    child.isRequest = true;
    child.asked = event.conn;
    child.options.trafficClass = this.options.trafficClass;
    child.local = { host: ipFromGid(request.localGid), port: request.localPort };
    child.peer = { host: ipFromGid(request.remoteGid), port: request.remotePort };
    child.#settle(dispatcher, event.id);
    const param = child.#param(event);
    const onTaken = (): void => dispatcher.taken(event.id);
    this.queue.push(new Report(this, { id: child.id, listenId: this.id, event: event.type, param, onTaken }));
  }

  /**
   * The device that a wildcard takes when something is made of it that is of one device: a queue pair, a shared queue, a group.
   * A listener on several devices takes none.
   */
  get #standIn(): Dispatcher | undefined {
    const { binding } = this;
    return this.state === IdState.LISTEN && binding?.dispatchers.length !== 1 ? undefined : binding?.preferred;
  }

  #absenceError(status: number): VerbsError {
    const { host = 'the address', port = 0 } = this.peer ?? {};
    const why = {
      message: `no device is at ${host}, an address of this machine, so nobody listens at port ${port} there`,
      advice: 'Start the server first, and look whether it is at that address',
    };
    // Of datagrams the status is another number.
    const reason = this.datagrams ? RejectReason.INVALID_SERVICE_ID : (status as RejectReason);
    return new RefusedError('rdma_connect', reason, new Uint8Array(0), why);
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
