import {
  type AhAttr,
  type DeviceAttr,
  type DeviceAttrEx,
  EventType,
  type Gid,
  isOneOf,
  type PortAttr,
} from '../../../device/ibta/index.js';
import { DEFAULT_LIMITS, type NicLimits } from '../../../device/nic/index.js';
import { type CmDevice, cmDevice, type ProvidedContext, startTimer } from '../../provider/index.js';
import {
  ahAttrFromWc,
  type AsyncEvent,
  type CompChannel,
  type Cq,
  type CqInitAttr,
  type Device,
  explain,
  type GidEntry,
  invalid,
  type ParentDomain,
  type ParentDomainInitAttr,
  type Pd,
  refuse,
  Resource,
  type RtValues,
  type Td,
  unsupported,
  VerbsError,
  type WorkCompletion,
  type Xrcd,
  type XrcdInitAttr,
} from '../../verbs/index.js';
import type { AdapterHost } from '../adapter/adapter-host.js';
import type { Argument, EndVerb, Value, Verb } from '../adapter/command.js';
import { namedCounters } from '../adapter/counters.js';
import { AsyncEventRing } from '../adapter/event-ring.js';
import { toAsyncEvent } from './completions/async-events.js';
import { SoftCmDevice } from './cm-device.js';
import { SoftCompChannel } from './completions/completion-channel.js';
import { SoftCq } from './completions/completion-queue.js';
import { EventReader } from './completions/event-reader.js';
import { EventSource } from './completions/event-source.js';
import { deviceAttr, deviceAttrEx, PORT_NUM } from './device-facts.js';
import { Doorbell } from './doorbell.js';
import type { SoftMr } from './memory/memory-region.js';
import type { SoftMw } from './memory/memory-window.js';
import { SoftParentDomain, SoftTd } from './parent-domain.js';
import { SoftPort } from './port.js';
import type { SoftQp } from './posting/queue-pair.js';
import type { SoftSrq } from './posting/shared-receive-queue.js';
import type { SoftXrcTargetQp } from './posting/xrc-target-qp.js';
import { SoftPd } from './protection-domain.js';
import { refusalOf } from './refusal.js';
import { SoftXrcd } from './xrc-domain.js';

/** An open device: the root of all objects that a program makes, and the driver's way to the adapter. */
export class SoftContext extends Resource implements ProvidedContext {
  readonly address: string;
  readonly numCompVectors = 1;
  readonly limits: NicLimits = DEFAULT_LIMITS;
  readonly doorbell: Doorbell;
  /** What lives, by the numbers that the NIC calls it. */
  readonly queues = new Map<number, SoftCq>();
  readonly pairs = new Map<number, SoftQp | SoftXrcTargetQp>();
  readonly sharedQueues = new Map<number, SoftSrq>();
  /** Memory regions by their L_Key. */
  readonly regions = new Map<number, SoftMr>();
  readonly windows = new Set<SoftMw>();
  /** Who wants to know when the device is closed, and has no other way to learn it. */
  readonly closeListeners = new Set<() => void>();
  /** XRC domains by the file that stands for them. */
  readonly xrcDomains = new Map<string, SoftXrcd>();
  protected readonly label: string;

  readonly #gid: Gid;
  readonly #asyncReader: EventReader;
  readonly #asyncEvents: EventSource<AsyncEvent>;
  readonly #port = new SoftPort(this);
  #cmDevice: SoftCmDevice | undefined;
  #threadDomains = 0;
  /** Ends of objects that were begun and did not come back: calls that were interrupted. */
  readonly #ending = new Set<string>();
  /** The last end of an object that came back. */
  #ended = '';

  constructor(
    readonly device: Device,
    readonly adapter: AdapterHost,
  ) {
    super('ibv_close_device', []);
    this.address = adapter.address;
    this.label = `device ${device.name} at ${adapter.address}`;
    this.doorbell = new Doorbell(adapter.doorbells, () => adapter.ring());
    this.#gid = adapter.gid;
    this.#asyncReader = new EventReader(adapter.asyncEvents, AsyncEventRing.ENTRIES, AsyncEventRing.SIZE);
    this.#asyncEvents = new EventSource(
      adapter,
      this.#asyncReader,
      () => this.#takeAsyncEvent(),
      'ibv_get_async_event',
    );
  }

  get host(): AdapterHost['kind'] {
    return this.adapter.kind;
  }

  /** Whether the NIC is in another thread. */
  get hasThread(): boolean {
    return this.adapter.kind === 'thread';
  }

  [cmDevice](call: string): CmDevice {
    this.assertAlive(call);
    this.#cmDevice ??= new SoftCmDevice(this);
    return this.#cmDevice;
  }

  [startTimer](delayMs: number, action: () => void): (() => void) | undefined {
    return this.adapter.after?.(delayMs * 1000, action);
  }

  /** Has the adapter execute a control verb for the call of that C name. @throws VerbsError when it is refused */
  command<V extends Verb>(call: string, verb: V, argument: Argument<V>): Value<V> {
    return this.attempt(call, () => this.adapter.execute(verb, argument));
  }

  /**
   * As {@link command}, for a verb that ends an object. An adapter that has stopped holds none any more; nor does one have
   * what a call has ended that was interrupted before its program could learn that.
   */
  endCommand(call: string, verb: EndVerb, handle: number): void {
    if (this.adapter.failure !== undefined) return;
    const end = `${verb} ${handle}`;
    const again = this.#ended === end || this.#ending.has(end);
    this.#ending.add(end);
    this.#ended = '';
    try {
      this.command(call, verb, handle);
      this.#ended = end;
    } catch (error) {
      if (!(again && error instanceof VerbsError && error.errno === 'EINVAL')) throw error;
    } finally {
      this.#ending.delete(end);
    }
  }

  /** Gives a refusal of the adapter the shape that programs know. */
  attempt<T>(call: string, action: () => T): T {
    this.assertAlive(call);
    try {
      return action();
    } catch (error) {
      throw refusalOf(call, error);
    }
  }

  /** @throws VerbsError EINVAL when the device was closed */
  requireAlive(call: string): void {
    this.assertAlive(call);
  }

  /** Closes all windows of a domain: the memory below one of them is gone. */
  forfeitWindows(pd: SoftPd): void {
    for (const window of this.windows) if (window.pd.handle === pd.handle) window.forfeit();
  }

  /**
   * Memory of the program that a work request names, when it is registered: as the region of that L_Key has it named, else
   * by its address.
   */
  memoryAt(addr: bigint | number, lengthBytes: number, lkey = 0): Uint8Array | undefined {
    const named = this.regions.get(lkey)?.named(addr, lengthBytes);
    if (named !== undefined) return named;
    for (const region of this.regions.values()) {
      const bytes = region.at(Number(addr), lengthBytes);
      if (bytes !== undefined) return bytes;
    }
    return undefined;
  }

  queryDevice(): DeviceAttr {
    this.assertAlive('ibv_query_device');
    return deviceAttr(this.#gid, this.limits);
  }

  queryDeviceEx(): DeviceAttrEx {
    this.assertAlive('ibv_query_device_ex');
    return deviceAttrEx(deviceAttr(this.#gid, this.limits));
  }

  queryRtValues(): RtValues {
    this.assertAlive('ibv_query_rt_values_ex');
    return { rawClock: this.adapter.deviceClockNs() };
  }

  queryPort(portNum = PORT_NUM): PortAttr {
    return this.#port.attributes(portNum);
  }

  queryPortSpeed(portNum = PORT_NUM): number {
    return this.#port.speed(portNum);
  }

  queryGid(portNum: number, index: number): Gid {
    return this.#port.gidEntry('ibv_query_gid', portNum, index).gid;
  }

  queryGidEntry(portNum: number, index: number): GidEntry {
    return this.#port.gidEntry('ibv_query_gid_ex', portNum, index);
  }

  queryGidTable(): readonly GidEntry[] {
    return this.#port.gidTable('ibv_query_gid_table', PORT_NUM);
  }

  queryPkey(portNum: number, index: number): number {
    return this.#port.pkey(portNum, index);
  }

  getPkeyIndex(portNum: number, pkey: number): number {
    return this.#port.pkeyIndex(portNum, pkey);
  }

  allocPd(): Pd {
    return SoftPd.alloc(this);
  }

  allocTd(): Td {
    this.assertAlive('ibv_alloc_td');
    return new SoftTd(this, ++this.#threadDomains);
  }

  allocParentDomain(init: ParentDomainInitAttr): ParentDomain {
    this.assertAlive('ibv_alloc_parent_domain');
    return new SoftParentDomain(this, init);
  }

  openXrcd(init: XrcdInitAttr = {}): Xrcd {
    this.assertAlive('ibv_open_xrcd');
    return SoftXrcd.open(this, init);
  }

  initAhFromWc(portNum: number, wc: WorkCompletion, grh: Uint8Array): AhAttr {
    const call = 'ibv_init_ah_from_wc';
    const reverse = ahAttrFromWc(portNum, wc, grh, this.#port.gidTable(call, portNum));
    if ('problem' in reverse) throw new VerbsError(call, reverse.problem);
    return reverse.attr;
  }

  createCompChannel(): CompChannel {
    return new SoftCompChannel(this);
  }

  createCq(init: CqInitAttr): Cq {
    this.assertAlive('ibv_create_cq');
    return new SoftCq(this, init);
  }

  getAsyncEvent(timeoutMs?: number): AsyncEvent {
    this.assertAlive('ibv_get_async_event');
    return this.#asyncEvents.take(timeoutMs);
  }

  asyncEvents(): AsyncIterable<AsyncEvent, void, undefined> {
    this.assertAlive('ibv_get_async_event');
    return this.#asyncEvents.iterate();
  }

  ackAsyncEvent(event: AsyncEvent): void {
    const call = 'ibv_ack_async_event';
    this.assertAlive(call);
    const given: unknown = event;
    const type = typeof given === 'object' && given !== null && 'eventType' in given ? given.eventType : undefined;
    if (typeof type !== 'number' || !isOneOf(EventType, type))
      refuse(call, invalid('that is no asynchronous event', 'getAsyncEvent and asyncEvents give them'));
  }

  createWq(): never {
    return this.#lack('ibv_create_wq', 'the device has no work queues apart from queue pairs');
  }

  createRwqIndTable(): never {
    return this.#lack('ibv_create_rwq_ind_table', 'the device has no work queues apart from queue pairs');
  }

  allocDm(): never {
    return this.#lack('ibv_alloc_dm', 'the device has no memory of its own to lend');
  }

  counters(): Readonly<Record<string, number>> {
    return namedCounters(this.command('ibv_read_counters', 'counters', undefined));
  }

  explain(wc: WorkCompletion): string {
    return explain(wc);
  }

  close(): void {
    this.endWithUsers();
  }

  override [Symbol.dispose](): void {
    if (!this.destroyed) this.close();
  }

  protected release(): void {
    this.#asyncEvents.close();
    this.adapter.close();
    for (const listener of this.closeListeners) queueMicrotask(listener);
  }

  #takeAsyncEvent(): AsyncEvent | undefined {
    for (;;) {
      const at = this.#asyncReader.peek();
      if (at < 0) return undefined;
      const { words } = this.#asyncReader;
      // The adapter writes nothing but event types there.
      const type = words[at + AsyncEventRing.TYPE] as EventType;
      const event = toAsyncEvent(type, words[at + AsyncEventRing.OBJECT], this);
      this.#asyncReader.take();
      // The object may have been destroyed since.
      if (event !== undefined) return event;
    }
  }

  #lack(call: string, message: string): never {
    this.assertAlive(call);
    throw new VerbsError(call, unsupported(message, 'queryDeviceEx says so'));
  }
}
