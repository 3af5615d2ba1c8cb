import { CommandError, DEFAULT_LIMITS, type NicLimits } from '../../nic/index.js';
import { type EventType, type Gid, GidType, type PortAttr } from '../../spec/index.js';
import type { DeviceAttr } from '../../spec/index.js';
import {
  type AsyncEvent,
  type CompChannel,
  type Context,
  type Cq,
  type CqInitAttr,
  type Device,
  explain,
  type GidEntry,
  invalid,
  type Pd,
  refuse,
  Resource,
  VerbsError,
  type WorkCompletion,
} from '../../verbs/index.js';
import { activeMtu } from '../adapter.js';
import type { AdapterHost } from '../adapter-host.js';
import type { Argument, Value, Verb } from '../command.js';
import { AsyncEventRing } from '../event-ring.js';
import { toAsyncEvent } from './async-events.js';
import { SoftCompChannel } from './completion-channel.js';
import { SoftCq } from './completion-queue.js';
import { DEFAULT_PKEY, deviceAttr, PORT_NUM, portAttr } from './device-facts.js';
import { Doorbell } from './doorbell.js';
import { EventReader } from './event-reader.js';
import { EventSource } from './event-source.js';
import type { SoftMr } from './memory-region.js';
import { SoftPd } from './protection-domain.js';
import type { SoftQp } from './queue-pair.js';

/** An open device: the root of all objects that a program makes, and the driver's way to the adapter. */
export class SoftContext extends Resource implements Context {
  readonly address: string;
  readonly numCompVectors = 1;
  readonly limits: NicLimits = DEFAULT_LIMITS;
  readonly doorbell: Doorbell;
  /** What lives, by the numbers that the NIC calls it. */
  readonly queues = new Map<number, SoftCq>();
  readonly pairs = new Map<number, SoftQp>();
  readonly regions = new Set<SoftMr>();
  protected readonly label: string;

  readonly #gid: Gid;
  readonly #asyncReader: EventReader;
  readonly #asyncEvents: EventSource<AsyncEvent>;

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

  /** Has the adapter execute a control verb for the call of that C name. @throws VerbsError when it is refused */
  command<V extends Verb>(call: string, verb: V, argument: Argument<V>): Value<V> {
    return this.attempt(call, () => this.adapter.execute(verb, argument));
  }

  /** As {@link command}, for a verb that ends an object: an adapter that has stopped holds none any more. */
  endCommand<V extends Verb>(call: string, verb: V, argument: Argument<V>): void {
    if (this.adapter.failure === undefined) this.command(call, verb, argument);
  }

  /** Gives a refusal of the adapter the shape that programs know. */
  attempt<T>(call: string, action: () => T): T {
    this.assertAlive(call);
    try {
      return action();
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      throw new VerbsError(call, { errno: error.errno, message: error.message, advice: '' }, { cause: error });
    }
  }

  /** Memory of the program at an address, when it is registered. */
  memoryAt(addr: bigint | number, lengthBytes: number): Uint8Array | undefined {
    for (const region of this.regions) {
      const bytes = region.at(Number(addr), lengthBytes);
      if (bytes !== undefined) return bytes;
    }
    return undefined;
  }

  queryDevice(): DeviceAttr {
    this.assertAlive('ibv_query_device');
    return deviceAttr(this.#gid, this.limits);
  }

  queryPort(portNum = PORT_NUM): PortAttr {
    this.#checkPort('ibv_query_port', portNum);
    const { nic } = this.command('ibv_query_port', 'counters', undefined);
    return portAttr(activeMtu(this.adapter.maxPacketBytes), this.limits, nic['rx_bad_pkey'] ?? 0);
  }

  queryGid(portNum: number, index: number): Gid {
    return this.#gidEntry('ibv_query_gid', portNum, index).gid;
  }

  queryGidEntry(portNum: number, index: number): GidEntry {
    return this.#gidEntry('ibv_query_gid_ex', portNum, index);
  }

  queryGidTable(): readonly GidEntry[] {
    return [this.#gidEntry('ibv_query_gid_table', PORT_NUM, 0)];
  }

  queryPkey(portNum: number, index: number): number {
    this.#checkPort('ibv_query_pkey', portNum);
    if (index !== 0)
      refuse('ibv_query_pkey', invalid(`P_Key index ${String(index)} is empty`, 'The table has one entry, index 0'));
    return DEFAULT_PKEY;
  }

  getPkeyIndex(portNum: number, pkey: number): number {
    this.#checkPort('ibv_get_pkey_index', portNum);
    if (pkey !== DEFAULT_PKEY)
      refuse('ibv_get_pkey_index', invalid(`P_Key ${String(pkey)} is not in the table`, 'It holds 0xffff alone'));
    return 0;
  }

  allocPd(): Pd {
    return new SoftPd(this);
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

  counters(): Readonly<Record<string, number>> {
    const { nic, link } = this.command('ibv_read_counters', 'counters', undefined);
    return { ...nic, ...Object.fromEntries(Object.entries(link).map(([name, count]) => [`link_${name}`, count])) };
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

  #checkPort(call: string, portNum: number): void {
    this.assertAlive(call);
    if (portNum !== PORT_NUM)
      refuse(call, invalid(`there is no port ${String(portNum)}`, `This device has port ${PORT_NUM}`));
  }

  #gidEntry(call: string, portNum: number, index: number): GidEntry {
    this.#checkPort(call, portNum);
    if (index !== 0) refuse(call, invalid(`GID index ${String(index)} is empty`, 'The table has one entry, index 0'));
    return { gid: Uint8Array.from(this.#gid), gidIndex: 0, portNum: PORT_NUM, gidType: GidType.ROCE_V2 };
  }
}
