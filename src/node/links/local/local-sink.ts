/** Sending: each packet is built where it leaves from, in a neighbour's ring or in the socket's arena. */
import type { PacketSink } from '../../../device/link/index.js';
import type { Path } from '../../../device/wire/index.js';
import { nowUs } from '../../system/index.js';
import { DEFAULT_HOP_LIMIT, type UdpSink } from '../udp/udp-sink.js';
import { Entry, LARGE_SEGMENT_BYTES } from './local-layout.js';
import type { Neighbour } from './local-neighbour.js';

/** Where packets along a path go. */
export interface Way {
  /** Undefined: by UDP. */
  readonly neighbour: Neighbour | undefined;
  /** Whether it leads both ways: what goes out in large segments is answered in such. */
  readonly both: boolean;
}

/** What the sink needs to know of paths. */
export interface Ways {
  find(path: Path): Way;
  wake(neighbour: Neighbour): void;
  /** Looks whether a neighbour is still there, and wakes it. @returns whether it is */
  look(neighbour: Neighbour): boolean;
}

/** What waits to be published together; with more, the receiver may as well begin to work on it. */
const PUBLISHED_BYTES = 1024;

const BY_UDP: Way = { neighbour: undefined, both: false };

export class LocalSink implements PacketSink {
  bytes: Uint8Array;
  ipId = 0;
  unsealed = false;
  /** The way of the packet that is to wait, or 0 where a flush makes room. */
  fullWay = 0;
  /** Packets that found a ring full, and could not wait. */
  full = 0;
  /** Packets that only a neighbour can take, who is not there any more. */
  stranded = 0;

  /** What is known of the paths used; forgotten when neighbours come or go. */
  #known = new WeakMap<Path, Way>();
  #path: Path | undefined;
  #way = BY_UDP;
  /** Neighbours with packets to publish: mostly one. */
  readonly #dirty: Neighbour[] = [];
  readonly #awaited = new Map<number, Neighbour>();
  /** Where the packet reserved goes: a neighbour, the socket, or nowhere. */
  #to: Neighbour | UdpSink | undefined;
  #nowhere: Uint8Array | undefined;

  constructor(
    private readonly udp: UdpSink,
    private readonly ways: Ways,
    /** Whether what no neighbour takes is dropped, rather than sent by UDP. */
    private readonly localOnly: (path: Path) => boolean,
  ) {
    this.bytes = udp.bytes;
  }

  reserve(path: Path, lengthBytes: number, large = false, waits = false): number {
    const { neighbour } = path === this.#path ? this.#way : this.#find(path);
    if (neighbour?.isOpen !== true) return this.#reserveElsewhere(path, lengthBytes, large);
    const hopLimit = path.hopLimit === 0 ? DEFAULT_HOP_LIMIT : path.hopLimit;
    const fields = path.trafficClass | (hopLimit << 8) | (large ? Entry.LARGE : 0);
    const offset = neighbour.reserve(lengthBytes, fields, path.flowLabel);
    if (offset < 0) {
      if (waits && neighbour.awaitRoom(nowUs()) !== Infinity) {
        this.#awaited.set(neighbour.way, neighbour);
        this.fullWay = neighbour.way;
        return -1;
      }
      this.full += 1;
      return this.#reserveNowhere(lengthBytes);
    }
    this.#to = neighbour;
    this.bytes = neighbour.bytes;
    this.unsealed = true;
    this.ipId = 0;
    return offset;
  }

  /** As {@link PacketSink.roomOf}. */
  roomOf(way: number): number {
    const neighbour = this.#awaited.get(way);
    return neighbour?.isOpen === true ? neighbour.awaitRoom(nowUs()) : Infinity;
  }

  get hasAwaitedRoom(): boolean {
    for (const neighbour of this.#awaited.values()) if (neighbour.hasAwaitedRoom) return true;
    return false;
  }

  /**
   * When those who wait for room are to ask for it though nobody has told them that there is some; Infinity when nobody waits.
   * What has passed is said once.
   */
  nextDueUs(): number {
    if (this.#awaited.size === 0) return Infinity;
    const now = nowUs();
    let dueUs = Infinity;
    for (const neighbour of this.#awaited.values()) {
      if (!neighbour.isAwaited) continue;
      dueUs = Math.min(dueUs, neighbour.standstillUs);
      if (neighbour.standstillUs <= now) neighbour.isAwaited = false;
    }
    return dueUs;
  }

  /** As {@link PacketSink.look}. */
  look(path: Path): number {
    const { neighbour } = path === this.#path ? this.#way : this.#find(path);
    return neighbour !== undefined && this.ways.look(neighbour) ? neighbour.beat : -1;
  }

  /** As {@link PacketSink.segmentBytes}. */
  segmentBytes(path: Path): number {
    const { neighbour, both } = path === this.#path ? this.#way : this.#find(path);
    return both && neighbour?.isOpen === true ? LARGE_SEGMENT_BYTES : 0;
  }

  /** As {@link PacketSink.windowBytes}. */
  windowBytes(path: Path): number {
    return this.udp.windowBytes(path);
  }

  commit(): void {
    const to = this.#to;
    if (to === undefined) return;
    to.commit();
    if (to === this.udp) return;
    // Neither the socket nor none: a neighbour.
    const neighbour = to as Neighbour;
    if (!this.#dirty.includes(neighbour)) this.#dirty.push(neighbour);
    if (neighbour.unpublishedBytes >= PUBLISHED_BYTES) this.#publish(neighbour);
  }

  flush(): void {
    const dirty = this.#dirty;
    // To publish can show that a neighbour has gone, which takes it out of the list.
    for (let neighbour = dirty.pop(); neighbour !== undefined; neighbour = dirty.pop()) this.#publish(neighbour);
    this.udp.flush();
  }

  /** Neighbours have come or gone: nothing that was known of ways counts any more, and no memory of theirs is used. */
  forget(gone?: Neighbour): void {
    this.#known = new WeakMap();
    this.#path = undefined;
    this.#way = BY_UDP;
    this.#to = undefined;
    this.bytes = this.udp.bytes;
    if (gone === undefined) return;
    this.#awaited.delete(gone.way);
    const at = this.#dirty.indexOf(gone);
    if (at >= 0) this.#dirty.splice(at, 1);
  }

  #find(path: Path): Way {
    let way = this.#known.get(path);
    if (way === undefined) {
      way = this.ways.find(path);
      this.#known.set(path, way);
    }
    this.#path = path;
    this.#way = way;
    return way;
  }

  #reserveElsewhere(path: Path, lengthBytes: number, large: boolean): number {
    // A peer that expects large segments cannot make sense of others, nor can UDP carry them.
    if (large || this.localOnly(path)) {
      this.stranded += 1;
      return this.#reserveNowhere(lengthBytes);
    }
    const { udp } = this;
    const offset = udp.reserve(path, lengthBytes);
    this.fullWay = 0;
    this.#to = offset < 0 ? undefined : udp;
    this.bytes = udp.bytes;
    this.ipId = udp.ipId;
    this.unsealed = false;
    return offset;
  }

  #reserveNowhere(lengthBytes: number): number {
    if (this.#nowhere === undefined || this.#nowhere.length < lengthBytes) this.#nowhere = new Uint8Array(lengthBytes);
    this.bytes = this.#nowhere;
    this.#to = undefined;
    this.unsealed = true;
    this.ipId = 0;
    return 0;
  }

  #publish(neighbour: Neighbour): void {
    if (neighbour.publish() && neighbour.takeSleep()) this.ways.wake(neighbour);
  }
}
