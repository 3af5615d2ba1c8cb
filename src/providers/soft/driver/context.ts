import {
  type AhAttr,
  type CompCntrCaps,
  type DeviceAttr,
  type DeviceAttrEx,
  EventType,
  type QpView,
  Syndrome,
  type Gid,
  isOneOf,
  type PortAttr,
} from '../../../device/ibta/index.js';
import {
  type CmDevice,
  cmDevice,
  datagramPort,
  hasOwnThread,
  type ProvidedContext,
  type Provider,
  startChore,
  lookupName,
  seededWord,
  startTimer,
  startTurn,
} from '../../../api/provider/index.js';
import { type DatagramPort, type DatagramPortOptions, nextHeldRound, ownTurn } from '../../../api/runtime/index.js';
import {
  ahAttrFromWc,
  type AsyncEvent,
  type CompChannel,
  type CompCntr,
  type CompCntrInitAttr,
  type Cq,
  type Qp,
  type CqInitAttr,
  type Device,
  type ExplainableEvent,
  type GidEntry,
  invalid,
  type ParentDomain,
  type ParentDomainInitAttr,
  type Pd,
  refuse,
  type RtValues,
  type SharedDevice,
  type Td,
  unsupported,
  VerbsError,
  type WorkCompletion,
  type Xrcd,
  type XrcdInitAttr,
  type Context,
} from '../../../api/verbs/index.js';
import type { AdapterHost } from '../adapter-host.js';
import { AsyncEventRing, namedCounters } from '../../../device/adapter/index.js';
import { toAsyncEvent } from './completions/async-events.js';
import { SoftCmDevice } from './cm-device.js';
import { SoftCompCntr } from './completions/completion-counter.js';
import { SoftCompChannel } from './completions/completion-channel.js';
import { SoftCq } from './completions/completion-queue.js';
import { EventReader } from './completions/event-reader.js';
import { EventSource } from './completions/event-source.js';
import { explain, explainWith, witnessOf } from '../explanations/explain.js';
import { dropSentence } from '../explanations/refusal.js';
import { compCntrCaps, deviceAttr, deviceAttrEx, PORT_NUM } from './device-facts.js';
import { ContextBase, refusalOf } from './context-base.js';
import { SoftParentDomain, SoftTd } from './domains/parent-domain.js';
import { offer } from '../shared-devices.js';
import { SoftPort } from './port.js';
import { SoftPd } from './domains/protection-domain.js';
import { XrcDomains } from './domains/xrc-domain.js';

/** An open device: the root of all objects that a program makes. */
export class SoftContext extends ContextBase implements ProvidedContext {
  readonly numCompVectors = 1;
  readonly xrcDomains = new XrcDomains(this);
  protected readonly label: string;

  readonly #gid: Gid;
  readonly #asyncReader: EventReader;
  readonly #asyncEvents: EventSource<AsyncEvent>;
  readonly #port = new SoftPort(this);
  #cmDevice: SoftCmDevice | undefined;
  #threadDomains = 0;

  constructor(
    readonly device: Device,
    adapter: AdapterHost,
  ) {
    super(adapter);
    this.label = `device ${device.name} at ${adapter.address}`;
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

  [cmDevice](call: string): CmDevice {
    this.assertAlive(call);
    this.#cmDevice ??= new SoftCmDevice(this);
    return this.#cmDevice;
  }

  [startTimer](delayMs: number, action: () => void): (() => void) | undefined {
    return this.adapter.after?.(delayMs * 1000, action);
  }

  [startChore](delayMs: number, action: () => void): (() => void) | undefined {
    return this.adapter.chore?.(delayMs * 1000, action);
  }

  get [seededWord](): (() => number) | undefined {
    return this.adapter.seededWord;
  }

  [startTurn](action: () => void): void {
    const { adapter } = this;
    const turn = adapter.run === undefined ? action : (): void => adapter.run?.(action);
    nextHeldRound(() => ownTurn(turn));
  }

  [datagramPort](call: string, options: DatagramPortOptions): DatagramPort | undefined {
    this.assertAlive(call);
    return this.attempt(call, () => this.adapter.openDatagramPort?.(options));
  }

  get [lookupName](): Provider['lookup'] | undefined {
    return this.adapter.lookup;
  }

  get [hasOwnThread](): boolean {
    return this.hasThread;
  }

  share(): SharedDevice {
    const call = 'share';
    this.assertAlive(call);
    const { address, host, adapter } = this;
    const shared = this.attempt(call, () => adapter.share?.() ?? { address, host });
    return offer(shared, () => this.another());
  }

  /** One more client of the same NIC. @param pid the process that it is for, where that is another */
  another(pid?: number): SoftContext {
    try {
      return new SoftContext(this.device, this.adapter.another(pid));
    } catch (error) {
      throw refusalOf('ibv_open_device', error);
    }
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
    return this.xrcDomains.open(init);
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

  queryCompCntrCaps(): CompCntrCaps {
    this.assertAlive('ibv_query_comp_cntr_caps');
    return compCntrCaps(this.limits);
  }

  createCompCntr(init: CompCntrInitAttr = {}): CompCntr {
    this.assertAlive('ibv_create_comp_cntr');
    return new SoftCompCntr(this, init);
  }

  getAsyncEvent(timeoutMs?: number): AsyncEvent {
    this.assertAlive('ibv_get_async_event');
    return this.#asyncEvents.take(timeoutMs);
  }

  /** The oldest asynchronous event, where there is one. */
  takeAsyncEvent(): AsyncEvent | undefined {
    return this.#takeAsyncEvent();
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
      refuse(call, invalid('that is not an asynchronous event', 'getAsyncEvent and asyncEvents give them'));
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

  explain(what: WorkCompletion | ExplainableEvent): string {
    const witness = witnessOf(what, 'qpNum' in what ? what.qpNum : 0, this.address);
    if (witness === undefined) return explain(what);
    return explainWith(what, viewAt(this, witness), 'qpNum' in what ? ownView(this, what.qpNum) : undefined);
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
      const event = toAsyncEvent(type, words[at + AsyncEventRing.OBJECT], words[at + AsyncEventRing.WHY], this);
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

/**
 * Opens the device of a context once more, for what another process does: who looks at the NIC's queue pairs is told of that one. The
 * call has no C twin.
 *
 * @throws VerbsError EINVAL for a context of another provider, or whose NIC nobody has any more; ENOMEM when a NIC has no more
 *   clients; EIO when it has failed
 */
export function openFor(context: Context, pid: number): Context {
  if (context instanceof SoftContext) return context.another(pid);
  throw new VerbsError('ibv_open_device', invalid('that is no device of a software NIC'));
}

/** As `Context.explain`, where devices of this process may know why they refused a request of the completion's. */
export function explainAmong(wc: WorkCompletion, own: Context, others: readonly Context[]): string {
  const refuser = others.find(({ address }) => address === wc.peer);
  const witness = refuser === undefined ? undefined : witnessOf(wc, wc.qpNum, refuser.address);
  if (!(refuser instanceof SoftContext) || witness === undefined || wc.vendorErr === Syndrome.FLUSHED)
    return own.explain(wc);
  return explainWith(wc, viewAt(refuser, witness), own instanceof SoftContext ? ownView(own, wc.qpNum) : undefined);
}

/** What the NIC knows of a queue pair: `none` where it has none of that number, undefined where it cannot be asked. */
function viewAt(context: SoftContext, qpn: number): QpView | 'none' | undefined {
  try {
    return context.adapter.execute('viewQp', qpn) ?? 'none';
  } catch {
    // The device is closed or has failed: what the completion says has to do.
    return undefined;
  }
}

function ownView(context: SoftContext, qpn: number): QpView | undefined {
  const view = viewAt(context, qpn);
  return view === 'none' ? undefined : view;
}

/** Messages that a queue pair of UC or UD has dropped without a word, and why the last; undefined where it has dropped none. */
export function dropsOf(qp: Qp): { readonly count: number; readonly sentence: string } | undefined {
  if (!(qp.context instanceof SoftContext)) return undefined;
  const drops = ownView(qp.context, qp.qpNum)?.drops;
  return drops === undefined ? undefined : { count: drops.count, sentence: dropSentence(drops) };
}
