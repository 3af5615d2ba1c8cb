import { ConnectionManager } from '../../../device/cm/index.js';
import { Errno, Mtu, mtuBytes, mtuFromBytes } from '../../../device/ibta/index.js';
import type { Link } from '../../../device/link/index.js';
import {
  CommandError,
  Nic,
  type NicAsyncEvent,
  type NicConfig,
  type NicEvents,
  type NicLimits,
  Ring,
  type SendFrame,
} from '../../../device/nic/index.js';
import type { AdapterChores } from './chores.js';
import { NicCmHost } from './cm-host.js';
import { asCommand, commandHandlers, type CommandTarget, type Handlers } from './command-handlers.js';
import type { AdapterCommand, AdapterReply, Argument, BytesRef, Value, Verb } from './command.js';
import { AsyncEventWriter, NO_OBJECT } from './event-ring.js';

/** Packets taken from the link in one turn, before what they cause is sent. */
const RECEIVE_BATCH = 64;
/** Bursts sent in one turn, so that a NIC with much to send still looks at what arrives. */
const BURSTS_PER_TURN = 4;
/** Turns in which a device that is closed takes leave of its peers: enough for as many datagrams as may wait. */
const LAST_TURNS = 64;
/** BTH, XRCETH, RETH, immediate data and ICRC: the most that surrounds a payload (protocol.md 1.3). */
const MAX_OVERHEAD_BYTES = 12 + 4 + 16 + 4 + 4;

/** What a device that has failed still does. */
export const LAST_VERBS: ReadonlySet<Verb> = new Set<Verb>([
  'deallocPd',
  'deregMr',
  'deallocMw',
  'destroyCompChannel',
  'destroyCompCntr',
  'destroyCq',
  'closeXrcd',
  'destroySrq',
  'destroyAh',
  'destroyQp',
  'detachMcast',
  'counters',
  'cmDestroyId',
  'cmTakeEvents',
]);

/** What an adapter is made of, beside its NIC. */
export interface AdapterParts {
  readonly link: Link;
  readonly crc32: NicConfig['crc32'];
  readonly random: NicConfig['random'];
  readonly limits?: Partial<NicLimits>;
  /** The doorbell page of the driver. */
  readonly doorbells: ArrayBufferLike;
  /** The ring of asynchronous events ({@link AsyncEventWriter}). */
  readonly asyncEvents: ArrayBufferLike;
  /** The ring by which events of the connection manager are announced. */
  readonly cmEvents: ArrayBufferLike;
  /** Finds the memory of a registration. @throws CommandError when it cannot be had here */
  readonly resolve: (memory: BytesRef) => Uint8Array;
  /** What is to be done now and then, if anything. */
  readonly chores?: (nic: Nic, cm: ConnectionManager) => AdapterChores;
  /** An event was put into the ring with these words; called from inside the NIC, so it may only note that. */
  readonly onEvent: (ring: Int32Array) => void;
}

/** A NIC on a link, and the pump that moves both: one object, wherever it is hosted. */
export class Adapter implements NicEvents, CommandTarget {
  readonly link: Link;
  readonly nic: Nic;
  readonly cm: ConnectionManager;
  readonly chores: AdapterChores | undefined;

  readonly #doorbells: Int32Array;
  readonly #asyncEvents: AsyncEventWriter;
  readonly #cmEvents: Int32Array;
  readonly #onEvent: (ring: Int32Array) => void;
  readonly #resolve: (memory: BytesRef) => Uint8Array;
  readonly #handlers: Handlers;
  /** The way of Ethernet frames, while a raw packet QP may want it. */
  #lost = false;
  #executing = false;
  #frames: ReturnType<Link['openFrames']> | undefined;
  /** Words of each completion channel's ring. */
  readonly #channels = new Map<number, Int32Array>();

  constructor(parts: AdapterParts) {
    const { link } = parts;
    this.link = link;
    this.#doorbells = new Int32Array(parts.doorbells);
    this.#asyncEvents = new AsyncEventWriter(parts.asyncEvents);
    this.#cmEvents = new Int32Array(parts.cmEvents);
    this.#onEvent = parts.onEvent;
    this.#resolve = parts.resolve;
    this.nic = new Nic({
      sink: link.sink,
      events: this,
      crc32: parts.crc32,
      random: parts.random,
      gids: [link.gid],
      portMtu: activeMtu(link.maxPacketBytes),
      groups: {
        join: (group) => asCommand(() => link.joinGroup(group)),
        leave: (group) => link.leaveGroup(group),
      },
      openFrames: () => this.#openFrames(),
      doorbells: parts.doorbells,
      ...(parts.limits === undefined ? {} : { limits: parts.limits }),
    });
    const cmHost = new NicCmHost(this.nic, link.gid, this.#cmEvents, this.#onEvent);
    this.cm = new ConnectionManager(cmHost);
    cmHost.receive((datagram) => this.cm.receive(datagram));
    this.#handlers = commandHandlers(this);
    this.chores = parts.chores?.(this.nic, this.cm);
  }

  /** One turn: the time in, packets in, doorbells in, packets out. True when any of these was there. */
  turn(nowUs: number): boolean {
    const { nic, link, chores } = this;
    nic.advanceTo(nowUs);
    if (chores !== undefined && nowUs >= chores.dueUs) chores.run(nowUs);
    const received = link.receive(nic, RECEIVE_BATCH);
    const sentBefore = nic.counters.sentPkts;
    const rung = nic.ringDoorbells();
    if (received === 0 && !rung && nic.nextWakeupUs() > nowUs) {
      // Most turns of a program that polls.
      link.flush();
      return false;
    }
    this.#send();
    return received > 0 || rung || nic.counters.sentPkts !== sentBefore;
  }

  /**
   * Sends what was just posted, without a look at what has arrived: half a turn. Timers want that look
   * before they run out, so when one is due it becomes a whole turn.
   */
  push(nowUs: number): void {
    const { nic } = this;
    nic.advanceTo(nowUs);
    if (nic.timerDue) {
      this.turn(nowUs);
      return;
    }
    nic.ringDoorbells();
    this.#send();
  }

  /** Whether the driver has rung and no turn has taken it. */
  get rung(): boolean {
    const words = this.#doorbells;
    return Atomics.load(words, Ring.PRODUCER) !== words[Ring.CONSUMER];
  }

  /** When the next turn is due though nothing happens; Infinity when none is. */
  nextWakeupUs(): number {
    return Math.min(this.nic.nextWakeupUs(), this.link.nextDueUs?.() ?? Infinity);
  }

  /** The same, of a NIC that somebody else may look at as well: for whoever sleeps until then. */
  nextTurnUs(): number {
    const wakeupUs = this.nextWakeupUs();
    return this.chores === undefined ? wakeupUs : Math.min(wakeupUs, this.chores.nextUs());
  }

  /** Executes a control verb. @throws CommandError when it is refused; then nothing has changed */
  execute<V extends Verb>(verb: V, argument: Argument<V>): Value<V> {
    if (this.#lost && !LAST_VERBS.has(verb))
      throw new CommandError(
        'EIO',
        'the device has failed (DEVICE_FATAL), and takes no commands but those that end objects',
      );
    this.#executing = true;
    try {
      const value = this.#handlers[verb](argument);
      this.#executing = false;
      return value;
    } catch (error) {
      // Of what is refused nothing has changed.
      if (error instanceof CommandError) this.#executing = false;
      throw error;
    }
  }

  /** Whether a turn or a command was left in its midst (`Nic.isBroken`): all that can be done then is to {@link abandon} it. */
  get isBroken(): boolean {
    return this.#executing || this.nic.isBroken;
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

  /** Puts an asynchronous event of the device itself or of one of its objects into the ring. */
  asyncEvent({ type, qpn, cqn, srqn }: NicAsyncEvent): void {
    this.#asyncEvents.write(type, qpn ?? cqn ?? srqn ?? NO_OBJECT);
    this.#onEvent(this.#asyncEvents.words);
  }

  heard(qpn: number): void {
    this.cm.heard(qpn);
  }

  completionEvent(channel: number): void {
    const words = this.#channels.get(channel);
    if (words !== undefined) this.#onEvent(words);
  }

  resolve(memory: BytesRef): Uint8Array {
    return this.#resolve(memory);
  }

  setChannel(handle: number, memory: ArrayBufferLike | undefined): void {
    if (memory === undefined) this.#channels.delete(handle);
    else this.#channels.set(handle, new Int32Array(memory));
  }

  requireFrames(): void {
    this.#frames ??= asCommand(() => this.link.openFrames());
  }

  releaseFrames(): void {
    if (this.#frames === undefined || this.nic.objects.rawQps.size > 0) return;
    this.#frames.close();
    this.#frames = undefined;
  }

  get hasAddress(): boolean {
    return this.chores?.hasAddress ?? true;
  }

  setWanted(up: boolean): void {
    if (this.chores !== undefined) this.chores.wanted = up;
  }

  lose(): void {
    this.#lost = true;
    this.cm.fail();
    this.chores?.stopWatching();
  }

  linkStatistics(): Record<string, number> {
    return this.link.statistics();
  }

  /** Ends it; peers of connections that are still there are told. */
  close(): void {
    this.cm.close();
    // As many bursts as it takes, as long as the link takes them.
    for (let turn = 0; turn === 0 || (turn < LAST_TURNS && this.nic.generalServices.busy); turn += 1) this.#send();
    this.abandon();
  }

  /** Lets go of all that it holds of the machine, and leaves the NIC as it is. */
  abandon(): void {
    this.chores?.close();
    this.link.close();
  }

  /** Every ring on which somebody may sleep. */
  *eventRings(): Generator<Int32Array> {
    yield this.#asyncEvents.words;
    yield this.#cmEvents;
    yield* this.#channels.values();
  }

  #openFrames(): SendFrame {
    this.requireFrames();
    return (bytes, offset, lengthBytes) => this.#frames?.send(bytes, offset, lengthBytes) ?? Errno.ENETDOWN;
  }

  #send(): void {
    const { nic, link } = this;
    for (let burst = 1; burst < BURSTS_PER_TURN && nic.transmit(); burst += 1) link.flush();
    link.flush();
  }
}

/**
 * The largest path MTU whose packets leave whole a link that carries so many bytes, BTH to ICRC.
 *
 * @throws CommandError EINVAL where not even the smallest path MTU fits
 */
export function activeMtu(maxPacketBytes: number): Mtu {
  const mtu = mtuFromBytes(maxPacketBytes - MAX_OVERHEAD_BYTES);
  if (mtu !== undefined) return mtu;
  throw new CommandError(
    'EINVAL',
    `the link carries packets of ${maxPacketBytes} bytes; RDMA needs ${mtuBytes(Mtu.MTU_256) + MAX_OVERHEAD_BYTES} at least`,
  );
}
