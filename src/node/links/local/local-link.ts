/** The link of a machine's own address: through shared memory to NICs of the same user, by UDP to all others. */
import { type Gid, gidsEqual, ipFromGid } from '../../../device/ibta/index.js';
import {
  type FramePort,
  LinkError,
  type LinkStatus,
  type PacketReceiver,
  type PolledLink,
} from '../../../device/link/index.js';
import { isMulticastGid, type Path } from '../../../device/wire/index.js';
import { randomU32 } from '../../system/index.js';
import type { KeptPackets } from '../udp/kept-packets.js';
import { UdpLink } from '../udp/udp-link.js';
import { LocalArrivals, Scratch } from './local-arrivals.js';
import { type InboxDirectory, inboxDirectory } from './local-directory.js';
import { Inbox, type SlotChange } from './local-inbox.js';
import { SlotState } from './local-layout.js';
import { gidWordsOf, Neighbour } from './local-neighbour.js';
import { LocalSink, type Way, type Ways } from './local-sink.js';

/** By which ways packets go: by memory where that is possible and UDP otherwise, or by one of the two alone. */
export type LinkKind = 'auto' | 'udp' | 'shm';

export interface LocalLinkOptions {
  /** IPv4 or IPv6 address of this machine; without it the first free one of 127.0.0.1 to 127.0.0.254. */
  readonly address?: string | undefined;
  /** Default: `auto`. */
  readonly kind?: LinkKind | undefined;
  /** Whether somebody records packets, who wants each in one piece. */
  readonly recorded?: boolean | undefined;
  /** Takes sentences about what does not work as it should. */
  readonly warn?: ((text: string) => void) | undefined;
  /** As `UdpLinkOptions.kept`. */
  readonly kept?: KeptPackets | undefined;
  /** Where the memory is, in place of /dev/shm. */
  readonly directory?: string | undefined;
}

/**
 * Looks at the rings between two looks at the socket, when that has long had nothing: such a look is a system call, and
 * takes longer than all the rest of a turn.
 */
const LOOKS_PER_SOCKET_LOOK = 64;
/** Looks at a socket without anything there until it counts as one that has long had nothing. */
const EAGER_LOOKS = 256;

const BY_UDP: Way = { neighbour: undefined, both: false };

function nameOf(gid: Gid): string {
  return String.fromCharCode(...gid);
}

/** fe80::/10: several interfaces may have the same. */
function isLinkLocal(gid: Gid): boolean {
  return gid[0] === 0xfe && gid[1] >> 6 === 2;
}

export class LocalLink implements PolledLink, Ways {
  readonly gid: Gid;
  readonly ipv6: boolean;
  readonly address: string;
  readonly maxPacketBytes: number;
  readonly sink: LocalSink;

  readonly #scratch = new Scratch();
  readonly #neighbours = new Map<string, Neighbour>();
  /** Replaced, never changed: somebody may be going through it. */
  #arrivals: readonly LocalArrivals[] = [];
  #untilSocket = 0;
  #eager = 0;
  #watched = false;
  #open = true;
  #changing = false;
  readonly #warned = new Set<string>();
  /** Neighbours that are gone, of which the receiver was not told yet. */
  #gone: number[] = [];
  // What was counted by those that are gone.
  #sentBefore = 0;
  #receivedBefore = 0;

  constructor(
    private readonly udp: UdpLink,
    private readonly directory: InboxDirectory,
    private readonly inbox: Inbox,
    private readonly options: LocalLinkOptions,
  ) {
    this.gid = udp.gid;
    this.ipv6 = udp.ipv6;
    this.address = udp.address;
    this.maxPacketBytes = udp.maxPacketBytes;
    const forced = options.kind === 'shm';
    this.sink = new LocalSink(udp.sink, this, ({ dgid }) => forced && !isMulticastGid(dgid));
    const { meta } = this.#scratch;
    meta.ipv6 = udp.ipv6;
    meta.destination.set(udp.gid);
    meta.unsealed = true;
    meta.ipId = 0;
  }

  get pollFds(): readonly number[] {
    return this.udp.pollFds;
  }

  /** What is known of neighbours would not be what they know of us. */
  get isBroken(): boolean {
    return this.#changing;
  }

  receive(receiver: PacketReceiver, maxPackets: number): number {
    if (!this.#open) return 0;
    this.inbox.beat();
    if (this.#watched) return this.#receiveWatched(receiver, maxPackets);
    const packets = this.#receiveByMemory(receiver, maxPackets);
    this.#untilSocket -= 1;
    if (this.#untilSocket > 0 && this.#arrivals.length > 0) return packets;
    const received = this.udp.receive(receiver, maxPackets);
    this.#eager = received > 0 ? EAGER_LOOKS : this.#eager - 1;
    this.#untilSocket = this.#eager > 0 ? 0 : LOOKS_PER_SOCKET_LOOK;
    return packets + received;
  }

  /**
   * The socket first: with what came there the datagrams that were to wake us are taken, and of whatever they tell a ring has it by now. Then to be woken again,
   * since that cleared the word, and the rings last: for what is put in from now on a datagram comes that is still there when this returns.
   */
  #receiveWatched(receiver: PacketReceiver, maxPackets: number): number {
    const received = this.udp.receive(receiver, maxPackets);
    // A receiver may have closed the link.
    if (!this.#open) return received;
    const { inbox } = this;
    if (!inbox.asleep) inbox.asleep = true;
    return received + this.#receiveByMemory(receiver, maxPackets);
  }

  #receiveByMemory(receiver: PacketReceiver, maxPackets: number): number {
    if (this.inbox.changed) this.#change(() => this.#accept());
    let packets = 0;
    const arrivals = this.#arrivals;
    for (let i = 0; i < arrivals.length; i += 1) packets += arrivals[i].receive(receiver, maxPackets);
    if (this.#gone.length > 0) packets += this.#change(() => this.#tellGone(receiver));
    return packets;
  }

  flush(): void {
    if (this.#open) this.sink.flush();
    else this.udp.flush();
  }

  /** Whether a ring has something, or room that was waited for, or a neighbour has come. */
  get #hasNews(): boolean {
    const { inbox, sink } = this;
    return inbox.hasChanged() || sink.hasAwaitedRoom || this.#arrivals.some((arrivals) => !arrivals.isEmpty);
  }

  nextDueUs(): number {
    return this.#gone.length > 0 ? 0 : this.sink.nextDueUs();
  }

  /** Tells who is gone, once all has been taken that they sent before. @returns how many */
  #tellGone(receiver: PacketReceiver): number {
    const all = this.#gone;
    this.#gone = all.filter((way) => this.#arrivals.some(({ from, isEmpty }) => from?.way === way && !isEmpty));
    const told = all.filter((way) => !this.#gone.includes(way));
    for (const way of told) receiver.onGone?.(way);
    return told.length;
  }

  fallAsleep(): boolean {
    if (!this.#open) return true;
    // Said first, then looked once more: whoever puts something in afterwards finds us asleep, and wakes us.
    this.inbox.asleep = true;
    if (!this.#hasNews) return true;
    this.inbox.asleep = this.#watched;
    return false;
  }

  wakeUp(): void {
    if (!this.#open) return;
    this.inbox.asleep = this.#watched;
    this.#untilSocket = 0;
  }

  setWatched(watched: boolean): boolean {
    if (!this.#open) return false;
    this.#watched = watched;
    this.inbox.asleep = watched;
    return watched && this.#hasNews;
  }

  /** As {@link Ways.find}. */
  find(path: Path): Way {
    const { dgid, sgid } = path;
    if (!this.#open || isMulticastGid(dgid) || isLinkLocal(dgid) || !gidsEqual(sgid, this.gid)) return BY_UDP;
    const neighbour = this.#neighbourAt(dgid);
    if (neighbour === undefined || !this.#connect(neighbour)) {
      if (this.options.kind === 'shm') this.#warnOf(dgid, neighbour !== undefined);
      return BY_UDP;
    }
    return { neighbour, both: this.#arrivals.some(({ from, corrupt }) => from === neighbour && !corrupt) };
  }

  readonly #wake = (neighbour: Neighbour): void => this.wake(neighbour);

  /** As {@link Ways.wake}. Since it is a system call anyway, it is also the moment to see who sleeps for ever. */
  wake(neighbour: Neighbour): void {
    if (neighbour.isAlive()) this.udp.wake(neighbour.gid);
    else this.#drop(neighbour);
  }

  /** As {@link Ways.look}. @returns whether it is */
  look(neighbour: Neighbour): boolean {
    if (!neighbour.isAlive()) {
      this.#drop(neighbour);
      return false;
    }
    if (neighbour.isConnected && neighbour.takeSleep()) this.udp.wake(neighbour.gid);
    return true;
  }

  forsake(): void {
    this.inbox.forsake();
  }

  joinGroup(group: Gid): void {
    this.udp.joinGroup(group);
  }

  leaveGroup(group: Gid): void {
    this.udp.leaveGroup(group);
  }

  status(): LinkStatus {
    return this.udp.status();
  }

  refresh(): LinkStatus {
    if (this.#open) this.#change(() => this.#lookAround());
    return this.udp.refresh();
  }

  openFrames(): FramePort {
    return this.udp.openFrames();
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    for (const neighbour of [...this.#neighbours.values()]) {
      const asleep = neighbour.isConnected && neighbour.takeSleep();
      this.#drop(neighbour);
      // It frees what we had.
      if (asleep) this.udp.wake(neighbour.gid);
    }
    for (const arrivals of this.#arrivals) arrivals.close();
    this.#arrivals = [];
    this.inbox.close();
    this.udp.close();
  }

  statistics(): Record<string, number> {
    const statistics = this.udp.statistics();
    let sent = this.#sentBefore;
    for (const { sentPackets } of this.#neighbours.values()) sent += sentPackets;
    let received = this.#receivedBefore;
    for (const { packets } of this.#arrivals) received += packets;
    return {
      ...statistics,
      local_sent_packets: sent,
      local_received_packets: received,
      local_full: this.sink.full,
      local_stranded: this.sink.stranded,
      local_neighbours: this.#neighbours.size,
    };
  }

  #neighbourAt(gid: Gid): Neighbour | undefined {
    const name = nameOf(gid);
    const known = this.#neighbours.get(name);
    if (known?.isAlive() === true) return known;
    if (known !== undefined) this.#drop(known);
    const found = Neighbour.open(this.directory, gid);
    if (found !== undefined) this.#neighbours.set(name, found);
    return found;
  }

  /** Has a slot of a neighbour. It is told at once, so that it claims one of ours and the way leads both ways. */
  #connect(neighbour: Neighbour): boolean {
    if (neighbour.isConnected) return true;
    if (!neighbour.connect(this.inbox, randomU32())) return false;
    if (neighbour.takeSleep()) this.udp.wake(neighbour.gid);
    return true;
  }

  /** Does what cannot be left in its midst. */
  #change<T>(action: () => T): T {
    this.#changing = true;
    const result = action();
    this.#changing = false;
    return result;
  }

  /** Neighbours have claimed slots, or given them back. */
  #accept(): void {
    const arrivals = [...this.#arrivals];
    for (const change of this.inbox.changes()) {
      const at = arrivals.findIndex(({ slot }) => slot === change.slot);
      const closed = (change.state & SlotState.MASK) === SlotState.CLOSED;
      if (at < 0) {
        const accepted = this.#acceptFrom(change);
        if (accepted !== undefined) arrivals.push(accepted);
        // What it put in before it went is still taken.
        if (closed) this.inbox.lookAgain();
      } else if (closed && arrivals[at].isEmpty) {
        const [gone] = arrivals.splice(at, 1);
        this.#end(gone);
      } else if (closed) {
        this.inbox.lookAgain();
      }
    }
    this.#arrivals = arrivals;
    this.sink.forget();
  }

  #acceptFrom({ slot, state, gid, nonce }: SlotChange): LocalArrivals | undefined {
    const known = this.#neighbours.get(nameOf(gid));
    // Its successor at the same address.
    if (known !== undefined && !known.is(nonce)) this.#drop(known);
    const neighbour = this.#neighbourAt(gid);
    const from = neighbour?.is(nonce) === true ? neighbour : undefined;
    if (from !== undefined) this.#connect(from);
    const { control, fd } = this.inbox;
    const { recorded = false } = this.options;
    try {
      const source = gidWordsOf(gid);
      return new LocalArrivals(control, fd, slot, state, from, source, this.#scratch, recorded, this.#wake);
    } catch {
      this.inbox.free(slot, state);
      return undefined;
    }
  }

  /** Looks who is gone without a word. */
  #lookAround(): void {
    this.inbox.freeStuck();
    for (const neighbour of [...this.#neighbours.values()]) this.look(neighbour);
    const ended = this.#arrivals.filter(({ isEmpty, from }) => isEmpty && from?.isClosed !== false);
    this.#arrivals = this.#arrivals.filter((arrivals) => !ended.includes(arrivals));
    for (const arrivals of ended) this.#end(arrivals);
    // Those that had no inbox may have one by now.
    this.sink.forget();
  }

  /** Nothing more is sent there; what came from there is still taken. */
  #drop(neighbour: Neighbour): void {
    if (!neighbour.isAlive()) this.#gone.push(neighbour.way);
    this.#neighbours.delete(nameOf(neighbour.gid));
    this.#sentBefore += neighbour.sentPackets;
    this.sink.forget(neighbour);
    neighbour.close();
  }

  #end(arrivals: LocalArrivals): void {
    this.#receivedBefore += arrivals.packets;
    arrivals.close();
  }

  #warnOf(gid: Gid, full: boolean): void {
    const name = ipFromGid(gid);
    if (this.#warned.has(name)) return;
    this.#warned.add(name);
    const why = full
      ? 'it has as many neighbours as it can have, or memory is short'
      : `no program of this user and this machine has a NIC there that takes packets by shared memory`;
    this.options.warn?.(
      `packets to ${name} go nowhere: the link is set to shared memory only, and ${why}. VERBENA_LINK=auto sends them by UDP.`,
    );
  }
}

/**
 * Opens the link at an address, by system calls.
 *
 * @throws LinkError as {@link UdpLink.open}; `EOPNOTSUPP` when it is to go by memory alone and there is none to be shared
 */
export function openNativeLink(options: LocalLinkOptions = {}): PolledLink {
  const { address, kind = 'auto', directory, kept } = options;
  const alone = { address, kept, wakeable: kept !== undefined };
  if (kind === 'udp') return UdpLink.open(alone);
  const found = inboxDirectory(directory);
  if ('problem' in found) {
    if (kind === 'shm') throw noMemory(found.problem);
    return UdpLink.open(alone);
  }
  const udp = UdpLink.open({ address, kept, wakeable: true });
  const inbox = isLinkLocal(udp.gid) ? 'the address is a link-local one' : Inbox.create(found, udp.gid);
  if (typeof inbox !== 'string') return new LocalLink(udp, found, inbox, options);
  if (kind === 'auto') return udp;
  udp.close();
  throw noMemory(inbox);
}

function noMemory(why: string): LinkError {
  const advice = 'Leave VERBENA_LINK and the option link away, or set them to auto, and packets go by UDP.';
  return new LinkError('EOPNOTSUPP', `packets cannot go by shared memory: ${why}. ${advice}`);
}
