import { ConnectionManager } from '../cm/index.js';
import { Errno, EventType, type Gid, Mtu, mtuBytes, mtuFromBytes, Syndrome } from '../ibta/index.js';
import type { Link } from '../link/index.js';
import type { PeerTable } from '../stand-in/index.js';
import {
  CommandError,
  Nic,
  type NicAsyncEvent,
  type NicConfig,
  type NicEvents,
  type NicLimits,
  type SendFrame,
} from '../nic/index.js';
import { NicCmHost } from './cm-host.js';
import { AdapterClient, type ClientParts } from './client.js';
import { asCommand, type CommandDevice } from './command-handlers.js';
import type { AdapterCounters, Verb } from './command.js';
import { NO_OBJECT } from './event-ring.js';
import { type Kind, Ownership } from './ownership.js';

/** What an adapter on a machine has done now and then beside its work. A simulated one has nothing of the kind to do. */
export interface AdapterChores {
  /** When {@link run} is due, as long as the adapter has its turns: the one comparison that all this costs a turn. */
  readonly dueUs: number;
  /** Whether the link had its address when it was last asked. */
  readonly hasAddress: boolean;
  /** Whether the administrator has the port up. */
  wanted: boolean;
  /** Called after each {@link run}, which may have changed {@link nextUs}. */
  onRun: (() => void) | undefined;

  run(nowUs: number): void;
  /** When something is to be done though the adapter sleeps. */
  nextUs(): number;
  /** The device has failed; its address does not matter any more. */
  stopWatching(): void;
  close(): void;
}

/** All that an adapter has counted, each under a name of its own. */
export function namedCounters({ nic, link, cm }: AdapterCounters): Record<string, number> {
  return { ...nic, ...cm, ...Object.fromEntries(Object.entries(link).map(([name, count]) => [`link_${name}`, count])) };
}

/** Packets taken from the link in one turn, before what they cause is sent. */
const RECEIVE_BATCH = 64;
/** Bursts sent in one turn, so that a NIC with much to send still looks at what arrives. */
const BURSTS_PER_TURN = 4;
/** Turns in which a device that is closed takes leave of its peers: enough for as many datagrams as may wait. */
const LAST_TURNS = 64;
/** Clients of one adapter: each has a page that every turn looks at. */
export const MAX_CLIENTS = 256;
/** BTH, XRCETH, RETH, immediate data and ICRC: the most that surrounds a payload (protocol/packets.md 1.3). */
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

export interface AdapterParts {
  readonly link: Link;
  readonly crc32: NicConfig['crc32'];
  readonly random: NicConfig['random'];
  readonly limits?: Partial<NicLimits>;
  /** Where queue pairs are entered for a stand-in. Default: nobody stands in. */
  readonly peers?: PeerTable | undefined;
  /** Whether an address is this machine's, and no device is there. Default: nobody knows. */
  readonly isVacant?: (destination: Gid) => boolean;
  /** What is to be done now and then, if anything. */
  readonly chores?: (nic: Nic, cm: ConnectionManager, users: AdapterUsers) => AdapterChores;
}

export interface AdapterUsers {
  /** The programs that have the device open. */
  readonly clients: readonly AdapterClient[];
  /** How many commands of theirs were executed, and how often one came or went: objects are made, changed and ended so. */
  readonly commands: number;
  ownerOf(kind: Kind, number: number): AdapterClient | undefined;
}

/** A NIC on a link, the pump that moves both, and the clients that share it: one object, wherever it is hosted. */
export class Adapter implements NicEvents, CommandDevice, AdapterUsers {
  readonly link: Link;
  readonly nic: Nic;
  readonly cm: ConnectionManager;
  readonly chores: AdapterChores | undefined;
  readonly ownership = new Ownership<AdapterClient>();
  /** Called from anywhere when a turn is due that nothing outside of the adapter tells of. */
  onDue: (() => void) | undefined;

  commands = 0;

  #clients: readonly AdapterClient[] = [];
  #nextClient = 1;
  #lost = false;
  #executing = false;
  /** The way of Ethernet frames, while a raw packet QP may want it. */
  #frames: ReturnType<Link['openFrames']> | undefined;

  constructor(parts: AdapterParts) {
    const { link } = parts;
    this.link = link;
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
      peers: parts.peers,
      ...(parts.limits === undefined ? {} : { limits: parts.limits }),
    });
    this.nic.copyEngine.onFinished = () => this.onDue?.();
    const cmHost = new NicCmHost(this.nic, link.gid, parts.isVacant);
    this.cm = new ConnectionManager(cmHost);
    cmHost.receive((datagram) => this.cm.receive(datagram));
    this.chores = parts.chores?.(this.nic, this.cm, this);
  }

  get clients(): readonly AdapterClient[] {
    return this.#clients;
  }

  /** Takes one more client. @throws CommandError ENOMEM when there are too many, EIO when the device has failed */
  attach(parts: ClientParts): AdapterClient {
    if (this.#lost) throw new CommandError('EIO', 'the device has failed (DEVICE_FATAL)');
    if (this.#clients.length >= MAX_CLIENTS)
      throw new CommandError('ENOMEM', `a device has ${MAX_CLIENTS} clients at most`);
    const client = new AdapterClient(this, parts, this.#nextClient++);
    this.#clients = [...this.#clients, client];
    this.commands += 1;
    return client;
  }

  /** Ends a client and all that it has. Others notice nothing. Idempotent. */
  detach(client: AdapterClient): void {
    client.close();
    this.forget(client);
  }

  /** As {@link detach}, where nothing can be ended any more: the adapter is broken. */
  forget(client: AdapterClient): void {
    this.#clients = this.#clients.filter((other) => other !== client);
    this.commands += 1;
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

  /** Whether a driver has rung and no turn has taken it. */
  get rung(): boolean {
    return this.#clients.some(({ rung }) => rung);
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

  perform<T>(verb: Verb, action: () => T): T {
    if (this.#lost && !LAST_VERBS.has(verb))
      throw new CommandError(
        'EIO',
        'the device has failed (DEVICE_FATAL), and takes no commands but those that end objects',
      );
    this.#executing = true;
    this.commands += 1;
    try {
      const value = action();
      this.#executing = false;
      return value;
    } catch (error) {
      // Of what is refused nothing has changed.
      if (error instanceof CommandError) this.#executing = false;
      throw error;
    }
  }

  /** Whether a turn or a command was left in its midst (`Nic.isBroken`, `Link.isBroken`): all that can be done then is to {@link abandon} it. */
  get isBroken(): boolean {
    return this.#executing || this.nic.isBroken || this.link.isBroken === true;
  }

  ownerOf(kind: Kind, number: number): AdapterClient | undefined {
    return this.ownership.ownerOf(kind, number);
  }

  /** Tells of an event of the device, or of one of its objects: the owner of that, or all clients. */
  asyncEvent({ type, qpn, cqn, srqn, why = Syndrome.NONE }: NicAsyncEvent): void {
    const object = qpn ?? cqn ?? srqn;
    if (object === undefined) {
      for (const client of this.#clients) client.asyncEvent(type, NO_OBJECT, why);
      return;
    }
    const kind = qpn !== undefined ? 'qp' : cqn !== undefined ? 'cq' : 'srq';
    this.ownership.ownerOf(kind, object)?.asyncEvent(type, object, why);
  }

  heard(qpn: number): void {
    this.cm.heard(qpn);
  }

  gone(way: number): void {
    this.cm.gone(way);
  }

  completionEvent(channel: number): void {
    this.ownership.ownerOf('channel', channel)?.completionEvent(channel);
  }

  /** It can do no more: tells all clients, and wakes whoever waits for something. */
  broken(): void {
    this.asyncEvent({ type: EventType.DEVICE_FATAL });
    for (const client of this.#clients) client.rouse();
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
    this.nic.abandonCopies();
    this.chores?.close();
    this.link.close();
  }

  /** Every ring on which somebody may sleep. */
  *eventRings(): Generator<Int32Array> {
    for (const client of this.#clients) yield* client.eventRings();
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
