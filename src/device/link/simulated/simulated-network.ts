import { type Gid, gidFromIp, gidsEqual, ipFromGid, isIpv4Gid } from '../../ibta/index.js';
import { isMulticastGid } from '../../wire/index.js';
import { changedConditions, type LinkConditions, PERFECT_CONDITIONS } from './conditions.js';
import { Direction, type Medium, type Station } from './direction.js';
import { EventQueue } from './event-queue.js';
import { drawFlips, Fate, flipBits } from './fate.js';
import {
  marked,
  type PacketHeader,
  packetInFrame,
  type SimulatedFrame,
  type SimulatedPacket,
  type Verdict,
  wireBytes,
} from './packet.js';
import { SeededRandom } from './random.js';
import { SimulatedLink, type SimulatedLinkOptions } from './simulated-link.js';

/**
 * What can happen to a packet of a simulated network, by the names of its counts; `dropped`, `delayed` and `replaced` are
 * deeds of the script.
 */
export type Happening =
  | 'delivered'
  | 'lost'
  | 'dropped'
  | 'duplicated'
  | 'delayed'
  | 'reordered'
  | 'corrupted'
  | 'replaced'
  | 'marked'
  | 'partitioned'
  | 'queueDropped'
  | 'inboxDropped'
  | 'tooBig'
  | 'unroutable';

/** Somebody who looks on: a capture. Called from the middle of the traffic, so it must not throw. */
export interface NetworkWatcher {
  /** A packet was sent. Its bytes stay as they are. */
  sent(packet: SimulatedPacket): void;
  /** Something has happened, now, to the packet that was sent under that `index`; `packet` is what has become of it so far. */
  happened(index: number, what: Happening, packet: SimulatedPacket | SimulatedFrame): void;
}

class NetworkStatistics {
  /** Packets and frames that hosts put on the wire; one that goes to many counts once for each of them. */
  sent = 0;
  /** Packets put into a host's inbox; duplicates count again. */
  delivered = 0;
  lost = 0;
  duplicated = 0;
  reordered = 0;
  corrupted = 0;
  /** Dropped because the queue before a slow link, or the receiver's buffer, was full. */
  queueDropped = 0;
  inboxDropped = 0;
  /** Marked because the queue was long. */
  marked = 0;
  partitioned = 0;
  /** Dropped because they were larger than the MTU. */
  tooBig = 0;
  /** Sent to an address, or a group, of no host, or not wanted where it came. */
  unroutable = 0;
  /** Dropped, doubled, delayed or replaced by the script. */
  scripted = 0;

  snapshot(): Record<string, number> {
    return Object.fromEntries(Object.entries(this));
  }
}

/** How a simulated network starts. */
export interface SimulatedNetworkOptions {
  /** Chooses everything that happens by chance; the low 32 bits count. */
  readonly seed: number;
  /** Conditions of every direction that has none of its own. Default: a perfect wire of 5 µs. */
  readonly conditions?: Partial<LinkConditions>;
  /**
   * Hides the IPv4 identification from receivers and counts it up within a burst, as UDP sockets with segmentation
   * offload do (protocol/udp.md 8.2). By default it is 0 and known.
   */
  readonly hideIpId?: boolean;
}

type Event = SimulatedPacket | SimulatedFrame | (() => void);

const MAC_BYTES = 6;
/** In the first byte of a MAC address: a group's, all hosts' included; and made up, rather than bought. */
const MAC_GROUP = 0x01;
const MAC_LOCAL = 0x02;

/**
 * Hosts joined by a wire that exists in memory and in time of its own. The same seed, the same calls and the same
 * conditions give the same run, to the byte.
 *
 * @example
 * ```ts
 * const network = new SimulatedNetwork({ seed: 7, conditions: { loss: 0.01 } });
 * const a = network.attach('10.0.0.1');
 * const b = network.attach('10.0.0.2');
 * network.setDirection('10.0.0.1', '10.0.0.2', { delayUs: 500 });
 * network.advanceTo(network.nextEventUs());
 * ```
 */
export class SimulatedNetwork implements Medium {
  /** Looks at every packet as it is sent, before chance does, and may decide its fate. */
  onPacket: ((packet: SimulatedPacket) => Verdict) | undefined;
  /** Looks on, and changes nothing. */
  watcher: NetworkWatcher | undefined;
  readonly counts = new NetworkStatistics();
  readonly hidesIpId: boolean;

  readonly #random: SeededRandom;
  readonly #fate = new Fate();
  /** Of what is not RDMA's, which nobody asks about. */
  readonly #beside = new NetworkStatistics();
  readonly #queue = new EventQueue<Event>();
  readonly #links = new Map<string, SimulatedLink>();
  readonly #directions = new Map<string, Direction>();
  #conditions: LinkConditions;
  readonly #groups = new Map<string, Set<Station>>();
  #nowUs = 0;
  #carried = 0;
  #attached = 0;

  constructor({ seed, conditions = {}, hideIpId = false }: SimulatedNetworkOptions) {
    this.#random = new SeededRandom(seed);
    this.#conditions = changedConditions(PERFECT_CONDITIONS, conditions);
    this.hidesIpId = hideIpId;
  }

  /** The present, in µs since the network began. */
  get nowUs(): number {
    return this.#nowUs;
  }

  /**
   * Gives a host an address.
   *
   * @throws RangeError when `address` is no IP address
   * @throws Error when another host has it
   */
  attach(address: string, options: SimulatedLinkOptions = {}): SimulatedLink {
    const gid = gidFromIp(address);
    const name = ipFromGid(gid);
    if (this.#links.has(name)) throw new Error(`a host at ${name} is attached already`);
    this.#attached += 1;
    const link = new SimulatedLink(this, name, gid, macOf(this.#attached), options);
    this.#links.set(name, link);
    return link;
  }

  /** Takes the host at `address` off the network; packets to it vanish. */
  detach(address: string): void {
    this.#links.delete(canonical(address));
  }

  /** Changes the conditions of every direction, present and future. */
  setConditions(changes: Partial<LinkConditions>): void {
    this.#conditions = changedConditions(this.#conditions, changes);
    for (const direction of this.#directions.values())
      direction.conditions = changedConditions(direction.conditions, changes);
  }

  /** Changes the conditions from one host to another; the way back keeps its own. */
  setDirection(from: string, to: string, changes: Partial<LinkConditions>): void {
    const direction = this.direction(from, to);
    direction.conditions = changedConditions(direction.conditions, changes);
  }

  /** Cuts two hosts off from each other; {@link heal} joins them again. */
  partition(a: string, b: string): void {
    this.setDirection(a, b, { partitioned: true });
    this.setDirection(b, a, { partitioned: true });
  }

  /** Ends every partition. */
  heal(): void {
    this.setConditions({ partitioned: false });
  }

  /** Runs `action` when time reaches `timeUs`: to change conditions during a run. */
  at(timeUs: number, action: () => void): void {
    this.#queue.push(Math.max(timeUs, this.#nowUs), action);
  }

  /** When something happens next, or Infinity. */
  nextEventUs(): number {
    return this.#queue.nextUs;
  }

  /** Lets time pass until `timeUs` and puts what arrives into the inboxes. Time never runs backwards. */
  advanceTo(timeUs: number): void {
    for (;;) {
      const dueUs = this.#queue.nextUs;
      const event = this.#queue.popDue(timeUs);
      if (event === undefined) break;
      this.#nowUs = Math.max(this.#nowUs, dueUs);
      if (typeof event === 'function') event();
      else this.#deliver(event);
    }
    this.#nowUs = Math.max(this.#nowUs, timeUs);
  }

  /**
   * A packet made by hand: it arrives at `to` as if sent now by a host at `from`, past script and conditions. When `to` is a
   * group, it arrives at all who are in it.
   */
  inject(from: string, to: string, bytes: Uint8Array, header: Partial<PacketHeader> = {}): void {
    const source = gidFromIp(from);
    const destination = gidFromIp(to);
    const receivers = isMulticastGid(destination) ? this.#members(destination) : [canonical(to)];
    for (const receiver of receivers) {
      const packet = this.#packet(canonical(from), receiver, bytes.slice(), {
        ipv6: !isIpv4Gid(source),
        source,
        destination,
        sourcePort: 4791,
        trafficClass: 0,
        hopLimit: 64,
        flowLabel: 0,
        ipId: this.hidesIpId ? -1 : 0,
        ...header,
      });
      this.watcher?.sent(packet);
      this.#queue.push(this.#nowUs, packet);
    }
  }

  statistics(): Record<string, number> {
    return this.counts.snapshot();
  }

  /** @internal What a link flushes. `bytes` becomes the network's own. */
  send(direction: Direction, bytes: Uint8Array, header: PacketHeader): void {
    this.counts.sent += 1;
    const packet = this.#packet(direction.from, direction.to, bytes, header);
    this.watcher?.sent(packet);
    const verdict = this.onPacket === undefined ? 'pass' : this.onPacket(packet);
    if (verdict === 'pass') this.#transmit(direction, packet);
    else this.#obey(verdict, direction, packet);
  }

  #obey(verdict: Exclude<Verdict, 'pass'>, direction: Direction, packet: SimulatedPacket): void {
    this.counts.scripted += 1;
    if (verdict === 'drop') {
      this.#note(packet, 'dropped');
    } else if (verdict === 'duplicate') {
      this.#note(packet, 'duplicated');
      this.#transmit(direction, packet);
      this.#transmit(direction, { ...packet, bytes: packet.bytes.slice() });
    } else if (verdict === 'corrupt') {
      this.#note(packet, 'corrupted');
      const flips: number[] = [];
      drawFlips(flips, packet.bytes.length, this.#random);
      this.#transmit(direction, flipped(packet, flips));
    } else if ('delayUs' in verdict) {
      this.#note(packet, 'delayed');
      this.#queue.push(direction.straying(this.#nowUs, verdict.delayUs), packet);
    } else {
      this.#note(packet, 'replaced');
      this.#transmit(direction, { ...packet, bytes: verdict.replace.slice() });
    }
  }

  #note(packet: SimulatedPacket | SimulatedFrame, what: Happening): void {
    this.watcher?.happened(packet.index, what, packet);
  }

  /** @internal What a link sends to a group: to each host that is in it now, the sender included, a packet of its own. */
  sendToGroup(from: string, bytes: Uint8Array, header: PacketHeader): void {
    const members = this.#members(header.destination);
    for (const member of members) this.send(this.direction(from, member), bytes.slice(), header);
    if (members.length > 0) return;
    this.counts.sent += 1;
    this.counts.unroutable += 1;
  }

  /** @internal A frame to one host, or to all others. `bytes` becomes the network's own. */
  sendFrame(sender: Station, bytes: Uint8Array): void {
    const mac = bytes.subarray(0, MAC_BYTES);
    const toAll = (mac[0] & MAC_GROUP) !== 0;
    const receivers = [...this.#links.values()].filter((link) =>
      toAll ? link !== sender : mac.every((byte, i) => byte === link.mac[i]),
    );
    if (receivers.length === 0) {
      this.counts.sent += 1;
      this.counts.unroutable += 1;
    }
    for (const { address } of receivers) {
      this.counts.sent += 1;
      const direction = this.direction(sender.address, address);
      this.#transmit(direction, {
        from: sender.address,
        to: address,
        index: this.#carried++,
        sentAtUs: this.#nowUs,
        bytes: bytes.slice(),
        header: undefined,
      });
    }
  }

  /**
   * @internal A packet that is not RDMA's, of so many bytes on the wire: the conditions hold for it as well, but not scripts, and no capture has it. One that
   * is corrupted is lost: its checksum sees to that.
   */
  sendBeside(from: string, to: string, ipBytes: number, arrive: () => void): void {
    const direction = this.direction(from, to);
    const { partitioned, mtuBytes } = direction.conditions;
    if (partitioned || ipBytes > mtuBytes) return;
    const departureUs = direction.serialise(this.#nowUs, ipBytes);
    if (departureUs < 0) return;
    this.#fate.draw(direction, departureUs, ipBytes, this.#random, this.#beside);
    const { arrivalUs, duplicateUs, flips } = this.#fate;
    if (duplicateUs >= 0) this.#queue.push(duplicateUs, arrive);
    if (arrivalUs >= 0 && flips.length === 0) this.#queue.push(arrivalUs, arrive);
  }

  /** @internal */
  enterGroup(group: string, member: Station): void {
    const members = this.#groups.get(group);
    if (members === undefined) this.#groups.set(group, new Set([member]));
    else members.add(member);
  }

  /** @internal */
  leaveGroup(group: string, member: Station): void {
    const members = this.#groups.get(group);
    members?.delete(member);
    if (members?.size === 0) this.#groups.delete(group);
  }

  /** Addresses of the hosts in a group, in the order in which they joined. */
  #members(group: Gid): string[] {
    return [...(this.#groups.get(ipFromGid(group)) ?? [])].map(({ address }) => address);
  }

  /** @internal */
  direction(from: string, to: string): Direction {
    const fromName = canonical(from);
    const toName = canonical(to);
    const key = `${fromName} ${toName}`;
    const known = this.#directions.get(key);
    if (known !== undefined) return known;
    const made = new Direction(fromName, toName, this.#conditions);
    this.#directions.set(key, made);
    return made;
  }

  #packet(from: string, to: string, bytes: Uint8Array, header: PacketHeader): SimulatedPacket {
    return { from, to, index: this.#carried++, sentAtUs: this.#nowUs, bytes, header };
  }

  /** Lets conditions and chance act on a packet or a frame. */
  #transmit(direction: Direction, sent: SimulatedPacket | SimulatedFrame): void {
    const { conditions } = direction;
    const counts = this.counts;
    const ipBytes = wireBytes(sent);
    if (conditions.partitioned) {
      counts.partitioned += 1;
      this.#note(sent, 'partitioned');
      return;
    }
    if (ipBytes > conditions.mtuBytes) {
      counts.tooBig += 1;
      this.#note(sent, 'tooBig');
      return;
    }
    const departureUs = direction.serialise(this.#nowUs, ipBytes);
    if (departureUs < 0) {
      counts.queueDropped += 1;
      this.#note(sent, 'queueDropped');
      return;
    }
    const packet = direction.isLong(this.#nowUs) ? this.#mark(sent) : sent;
    const fate = this.#fate;
    const { lost, duplicated, reordered, corrupted } = counts;
    fate.draw(direction, departureUs, packet.bytes.length, this.#random, counts);
    if (this.watcher !== undefined) {
      if (counts.lost > lost) this.#note(sent, 'lost');
      if (counts.duplicated > duplicated) this.#note(sent, 'duplicated');
      if (counts.reordered > reordered) this.#note(sent, 'reordered');
      if (counts.corrupted > corrupted) this.#note(sent, 'corrupted');
    }
    if (fate.duplicateUs >= 0) this.#queue.push(fate.duplicateUs, { ...packet, bytes: packet.bytes.slice() });
    if (fate.arrivalUs < 0) return;
    this.#queue.push(fate.arrivalUs, fate.flips.length === 0 ? packet : flipped(packet, fate.flips));
  }

  #deliver(arriving: SimulatedPacket | SimulatedFrame): void {
    const packet = arriving.header === undefined ? packetInFrame(arriving, this.hidesIpId) : arriving;
    const link = this.#links.get(arriving.to);
    const wanted =
      link !== undefined && (packet === undefined ? link.takesFrames : this.#isFor(link, packet, packet === arriving));
    if (wanted) {
      this.#passPort(link, packet ?? arriving);
      return;
    }
    this.counts.unroutable += 1;
    this.#note(arriving, 'unroutable');
  }

  /** The last hop to a host, and its inbox. */
  #passPort(link: SimulatedLink, packet: SimulatedPacket | SimulatedFrame): void {
    const { port } = link;
    const departureUs = port?.serialise(this.#nowUs, wireBytes(packet)) ?? this.#nowUs;
    if (departureUs < 0) {
      this.counts.queueDropped += 1;
      this.#note(packet, 'queueDropped');
      return;
    }
    const arriving = port?.isLong(this.#nowUs) === true ? this.#mark(packet) : packet;
    const accept = (): void => {
      if (link.accept(arriving)) {
        this.counts.delivered += 1;
        this.#note(arriving, 'delivered');
      } else {
        this.counts.inboxDropped += 1;
        this.#note(arriving, 'inboxDropped');
      }
    };
    if (departureUs > this.#nowUs) this.#queue.push(departureUs, accept);
    else accept();
  }

  #mark<T extends SimulatedPacket | SimulatedFrame>(packet: T): T {
    const after = marked(packet);
    if (after === packet) return packet;
    this.counts.marked += 1;
    this.#note(packet, 'marked');
    return after;
  }

  /** Whether a packet that reaches a host is for it. */
  #isFor(link: SimulatedLink, { header }: SimulatedPacket, addressed: boolean): boolean {
    const { destination } = header;
    // The host may have left the group while the packet was under way.
    if (isMulticastGid(destination)) return this.#groups.get(ipFromGid(destination))?.has(link) === true;
    return addressed || gidsEqual(destination, link.gid);
  }
}

/** The same with some bits turned over. What the sender sent stays as it was, for those who keep it. */
function flipped<T extends SimulatedPacket | SimulatedFrame>(packet: T, flips: readonly number[]): T {
  const bytes = packet.bytes.slice();
  flipBits(bytes, 0, flips);
  return { ...packet, bytes };
}

/** The MAC address of the `n`-th host. */
function macOf(n: number): Uint8Array {
  const mac = new Uint8Array(MAC_BYTES);
  mac[0] = MAC_LOCAL;
  new DataView(mac.buffer).setUint32(2, n);
  return mac;
}

function canonical(address: string): string {
  return ipFromGid(gidFromIp(address));
}
