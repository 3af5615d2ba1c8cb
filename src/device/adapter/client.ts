import { CmClient, type CmClientHost, type Refusal } from '../cm/index.js';
import type { DeviceMemoryPlace, EventType, QpAttr, Syndrome } from '../ibta/index.js';
import {
  CommandError,
  DEFAULT_LIMITS,
  type Doorbells,
  type ForeignMemory,
  type NicLimits,
  Ring,
} from '../nic/index.js';
import { type CommandDevice, commandHandlers, type CommandTarget, type Handlers } from './command-handlers.js';
import type { AdapterCommand, AdapterReply, Argument, BytesRef, Value, Verb } from './command.js';
import { AsyncEventWriter, countCmEvent } from './event-ring.js';
import { endings, type MostOf, type Ownership } from './ownership.js';

/** Under which name a device tells how many objects of each kind there can be. */
const names = {
  pd: 'maxPd',
  mr: 'maxMr',
  mw: 'maxMw',
  channel: 'maxCompChannels',
  counter: 'maxCompCntr',
  cq: 'maxCq',
  xrcd: 'maxXrcd',
  srq: 'maxSrq',
  ah: 'maxAh',
  qp: 'maxQp',
} as const satisfies Record<Exclude<keyof ClientLimits, 'cmId'>, keyof NicLimits>;

// As it says, which `Object.entries` does not.
const entries = Object.entries(names) as readonly [keyof typeof names, (typeof names)[keyof typeof names]][];

export function limitsOf(most: ClientLimits = {}): NicLimits {
  const own = { ...DEFAULT_LIMITS };
  for (const [kind, name] of entries) own[name] = Math.min(own[name], most[kind] ?? Infinity);
  return own;
}

/** What a client brings: the memory by which it and its adapter meet, and its ways. */
export interface ClientParts {
  readonly doorbells: ArrayBufferLike;
  /** The ring of asynchronous events ({@link AsyncEventWriter}). */
  readonly asyncEvents: ArrayBufferLike;
  /** The ring by which events of the connection manager are announced. */
  readonly cmEvents: ArrayBufferLike;
  /** Finds the memory of a registration. @throws CommandError when it cannot be had here */
  readonly resolve: (memory: BytesRef) => Uint8Array;
  /** Reaches memory of a device; absent where there are none. @throws CommandError when it cannot be reached from here */
  readonly reach?: (place: DeviceMemoryPlace) => ForeignMemory;
  /** An event was put into the ring with these words; called from inside the NIC, so it may only note that. */
  readonly onEvent: (ring: Int32Array) => void;
  /** How many objects of each kind it may have; default: as many as the device. */
  readonly most?: ClientLimits | undefined;
  /** The process that it is for, where that is another than the adapter's. */
  readonly pid?: number | undefined;
}

export interface ClientLimits extends MostOf {
  readonly cmId?: number;
}

/** What a client needs of its adapter. */
interface ClientDevice extends CommandDevice {
  readonly ownership: Ownership<AdapterClient>;
  /** Executes what a command asks for. @throws CommandError EIO when the device has failed, and does that no more */
  perform<T>(verb: Verb, action: () => T): T;
}

/**
 * A client of an adapter: a program that has opened the device, or one of several that share it. Its doorbells, its rings of
 * events, and whatever it makes are its own; it knows of no others, and when it ends nothing of it is left.
 */
export class AdapterClient implements CommandTarget, CmClientHost {
  readonly doorbells: Doorbells;
  readonly cm: CommandTarget['cm'];
  readonly maxIds: number | undefined;

  readonly #page: Int32Array;
  readonly #asyncEvents: AsyncEventWriter;
  readonly #cmEvents: Int32Array;
  readonly #cmClient = new CmClient(this);
  readonly #handlers: Handlers;
  /** Words of each completion channel's ring. */
  readonly #channels = new Map<number, Int32Array>();
  #open = true;

  constructor(
    readonly device: ClientDevice,
    private readonly parts: ClientParts,
    readonly number: number,
  ) {
    this.#page = new Int32Array(parts.doorbells);
    this.#asyncEvents = new AsyncEventWriter(parts.asyncEvents);
    this.#cmEvents = new Int32Array(parts.cmEvents);
    this.maxIds = parts.most?.cmId;
    this.doorbells = device.nic.openDoorbells(parts.doorbells);
    this.cm = device.cm.commandsOf(this.#cmClient);
    this.#handlers = commandHandlers(this);
  }

  /** The process that it is for; undefined where that is the adapter's. */
  get pid(): number | undefined {
    return this.parts.pid;
  }

  /** Whether its driver has rung and no turn has taken it. */
  get rung(): boolean {
    const words = this.#page;
    return Atomics.load(words, Ring.PRODUCER) !== words[Ring.CONSUMER];
  }

  /** Executes a control verb. @throws CommandError when it is refused; then nothing has changed */
  execute<V extends Verb>(verb: V, argument: Argument<V>): Value<V> {
    const { device, parts } = this;
    if (!this.#open) throw new CommandError('EINVAL', 'the client has ended');
    const handler: (argument: Argument<V>) => Value<V> = this.#handlers[verb];
    return device.perform(verb, () => device.ownership.execute(this, parts.most ?? {}, verb, argument, handler));
  }

  /** As {@link execute}, for commands that come from another thread. */
  answer(command: AdapterCommand): AdapterReply {
    try {
      return { value: this.execute(command.verb, command.argument) };
    } catch (error) {
      if (error instanceof CommandError) return { errno: error.errno, message: error.message };
      throw error;
    }
  }

  /** Puts an asynchronous event into its ring: of one of its objects, or of the device. */
  asyncEvent(type: EventType, object: number, why: Syndrome): void {
    this.#asyncEvents.write(type, object, why);
    this.parts.onEvent(this.#asyncEvents.words);
  }

  /** An event was put into the ring of one of its completion channels. */
  completionEvent(channel: number): void {
    const words = this.#channels.get(channel);
    if (words !== undefined) this.parts.onEvent(words);
  }

  eventReady(): void {
    countCmEvent(this.#cmEvents);
    this.parts.onEvent(this.#cmEvents);
  }

  modifyQp(qpNum: number, attr: Partial<QpAttr>, cause?: Syndrome): Refusal | undefined {
    const { ownership, nic } = this.device;
    try {
      ownership.require(this, 'qp', qpNum);
      nic.control.modifyQp(qpNum, attr, cause);
      return undefined;
    } catch (error) {
      if (error instanceof CommandError) return { errno: error.errno, message: error.message };
      throw error;
    }
  }

  limitRnrRetries(qpNum: number, rnrRetry: number): void {
    const { ownership, nic } = this.device;
    if (ownership.ownerOf('qp', qpNum) === this) nic.control.limitRnrRetries(qpNum, rnrRetry);
  }

  resolve(memory: BytesRef): Uint8Array {
    return this.parts.resolve(memory);
  }

  reach(place: DeviceMemoryPlace): ForeignMemory {
    const { reach } = this.parts;
    if (reach === undefined) throw new CommandError('EOPNOTSUPP', 'this adapter reaches no memory of other devices');
    return reach(place);
  }

  setChannel(handle: number, memory: ArrayBufferLike | undefined): void {
    if (memory === undefined) this.#channels.delete(handle);
    else this.#channels.set(handle, new Int32Array(memory));
  }

  /** Every ring on which somebody may sleep. */
  *eventRings(): Generator<Int32Array> {
    yield this.#asyncEvents.words;
    yield this.#cmEvents;
    yield* this.#channels.values();
  }

  /** Wakes whoever sleeps on one of its rings. */
  rouse(): void {
    for (const ring of this.eventRings()) this.parts.onEvent(ring);
  }

  /** Ends it and all that it has, whatever is under way; peers of its connections are told. Idempotent. */
  close(): void {
    if (!this.#open) return;
    const { nic, cm, ownership } = this.device;
    cm.close(this.#cmClient);
    for (const qpn of ownership.ownedBy(this, 'qp')) nic.control.detachAllMcast(qpn);
    for (const [kind, verb] of endings) for (const number of ownership.ownedBy(this, kind)) this.execute(verb, number);
    nic.closeDoorbells(this.doorbells);
    ownership.forget(this);
    this.#open = false;
  }
}
