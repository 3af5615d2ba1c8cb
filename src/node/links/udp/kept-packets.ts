import type { PacketReceiver } from '../../../device/link/index.js';
import { PacketMeta } from '../../../device/wire/index.js';
import { addressOf, viewOf } from '../../system/index.js';

/** Words of the first page. The NIC stores its beat in every turn, so that word has a cache line to itself. */
const Word = {
  BEAT: 0,
  /** {@link Turn}. */
  TURN: 16,
  /** 1: the NIC's thread runs again and waits for the socket. */
  WANTED: 17,
  /** 1: the stand-in looks rarely, since the NIC took no turns. */
  RESTING: 19,
  /** 1: the link is closed. */
  CLOSED: 18,
  PRODUCER: 32,
  CONSUMER: 48,
  RNR_NAKS: 64,
  MRAS: 65,
  KEPT: 66,
  DROPPED: 67,
} as const;

/** Who uses the socket. */
const Turn = { NIC: 0, STAND_IN: 1 } as const;

const PAGE_BYTES = 4096;
/** Room for what a socket's buffer holds. Memory that nobody has written to takes none of the machine's. */
const RING_BYTES = 1 << 22;

/** Words before a packet in the ring. */
const Entry = {
  LENGTH: 0,
  SOURCE: 1,
  PORT: 5,
  TRAFFIC_CLASS: 6,
  HOP_LIMIT: 7,
  FLOW_LABEL: 8,
  BYTES: 48,
  ALIGN: 64,
} as const;
/** A length that means: the next entry is at the beginning of the ring. */
const REST = -1;

/** How long the NIC waits for the socket. Both may use it at once: packets then come in another order, as on any network. */
const HAND_OVER_MS = 2;
/** How long a link that is closed waits: afterwards the number of its socket may be that of another file. */
const CLOSE_MS = 5000;

/** What a stand-in has done. */
export interface StandInCounts {
  readonly rnrNaks: number;
  readonly mras: number;
  readonly kept: number;
  readonly dropped: number;
}

/**
 * The memory by which a UDP link and its stand-in meet: the beat of the NIC's turns, who uses the socket, and the packets that the
 * stand-in has taken from it and kept.
 */
export class KeptPackets {
  readonly #words: Int32Array;
  readonly #ring: Uint8Array;
  readonly #ringWords: Int32Array;
  readonly #meta = new PacketMeta();
  /** Has the stand-in look often again. */
  onRoused: (() => void) | undefined;
  #consumer = 0;

  constructor(readonly memory: SharedArrayBuffer = new SharedArrayBuffer(PAGE_BYTES + RING_BYTES)) {
    this.#words = new Int32Array(memory, 0, PAGE_BYTES / 4);
    // An ordinary view: not every checksum takes shared memory.
    this.#ring = viewOf(addressOf(memory) + PAGE_BYTES, RING_BYTES);
    this.#ringWords = new Int32Array(memory, PAGE_BYTES, RING_BYTES / 4);
  }

  // The NIC's side.

  /**
   * The NIC takes a turn. A plain store: to be late by a turn is harmless.
   *
   * @returns whether {@link receive} has something to do
   */
  beat(): boolean {
    const words = this.#words;
    words[Word.BEAT] = (words[Word.BEAT] + 1) | 0;
    if (words[Word.RESTING] !== 0) this.#rouse();
    return words[Word.TURN] !== Turn.NIC || words[Word.PRODUCER] !== this.#consumer;
  }

  /** Has the stand-in let go of the socket, and hands over what it has kept. @returns how many packets */
  receive(receiver: PacketReceiver, maxPackets: number, ipv6: boolean, destination: Uint8Array): number {
    this.#takeBack(HAND_OVER_MS);
    const meta = this.#meta;
    const producer = Atomics.load(this.#words, Word.PRODUCER);
    let packets = 0;
    while (this.#consumer !== producer && packets < maxPackets) {
      const place = this.#consumer & (RING_BYTES - 1);
      const word = place >> 2;
      const length = this.#ringWords[word + Entry.LENGTH];
      if (length === REST) {
        this.#consumer = (this.#consumer + RING_BYTES - place) | 0;
        continue;
      }
      meta.ipv6 = ipv6;
      meta.destination.set(destination);
      for (let i = 0; i < 4; i += 1) meta.sourceWords[i] = this.#ringWords[word + Entry.SOURCE + i];
      meta.sourcePort = this.#ringWords[word + Entry.PORT];
      meta.trafficClass = this.#ringWords[word + Entry.TRAFFIC_CLASS];
      meta.hopLimit = this.#ringWords[word + Entry.HOP_LIMIT];
      meta.flowLabel = this.#ringWords[word + Entry.FLOW_LABEL];
      meta.ipId = -1;
      this.#consumer = (this.#consumer + entryBytes(length)) | 0;
      packets += 1;
      receiver.receive(this.#ring, place + Entry.BYTES, length, meta);
    }
    Atomics.store(this.#words, Word.CONSUMER, this.#consumer);
    return packets;
  }

  #rouse(): void {
    Atomics.store(this.#words, Word.RESTING, 0);
    this.onRoused?.();
  }

  get counts(): StandInCounts {
    const words = this.#words;
    return {
      rnrNaks: words[Word.RNR_NAKS],
      mras: words[Word.MRAS],
      kept: words[Word.KEPT],
      dropped: words[Word.DROPPED],
    };
  }

  /** The stand-in does not touch the socket any more. */
  close(): void {
    Atomics.store(this.#words, Word.CLOSED, 1);
    this.#takeBack(CLOSE_MS);
  }

  /** The stand-in is no more. */
  abandon(): void {
    Atomics.store(this.#words, Word.TURN, Turn.NIC);
    Atomics.notify(this.#words, Word.TURN);
  }

  #takeBack(mostMs: number): void {
    const words = this.#words;
    if (Atomics.load(words, Word.TURN) === Turn.NIC) return;
    Atomics.store(words, Word.WANTED, 1);
    const begunMs = performance.now();
    while (Atomics.load(words, Word.TURN) !== Turn.NIC && performance.now() - begunMs < mostMs)
      Atomics.wait(words, Word.TURN, Turn.STAND_IN, 1);
    Atomics.store(words, Word.WANTED, 0);
  }

  // The stand-in's side.

  /** Another number after each turn of the NIC. */
  get beats(): number {
    return Atomics.load(this.#words, Word.BEAT);
  }

  /** Has the NIC's next turn rouse the stand-in. */
  rest(): void {
    Atomics.store(this.#words, Word.RESTING, 1);
  }

  get isClosed(): boolean {
    return Atomics.load(this.#words, Word.CLOSED) !== 0;
  }

  /** Whether the NIC wants the socket back. */
  get isWanted(): boolean {
    return Atomics.load(this.#words, Word.WANTED) !== 0;
  }

  /** Whether packets wait for the NIC. */
  get isEmpty(): boolean {
    return Atomics.load(this.#words, Word.CONSUMER) === Atomics.load(this.#words, Word.PRODUCER);
  }

  /** Takes the socket. @returns false when the NIC has taken a turn since `beats`, or the link is closed */
  take(beats: number): boolean {
    const words = this.#words;
    Atomics.store(words, Word.TURN, Turn.STAND_IN);
    // Said first, then looked once more: the NIC does it in the opposite order.
    if (this.beats === beats && !this.isClosed) return true;
    this.release();
    return false;
  }

  release(): void {
    Atomics.store(this.#words, Word.TURN, Turn.NIC);
    Atomics.notify(this.#words, Word.TURN);
  }

  /** Keeps a packet, or drops it where there is no room. */
  keep(bytes: Uint8Array, offset: number, lengthBytes: number, meta: PacketMeta): void {
    const words = this.#words;
    const size = entryBytes(lengthBytes);
    const producer = Atomics.load(words, Word.PRODUCER);
    const place = producer & (RING_BYTES - 1);
    const rest = place + size > RING_BYTES ? RING_BYTES - place : 0;
    const end = (producer + rest + size) | 0;
    if (((end - Atomics.load(words, Word.CONSUMER)) | 0) > RING_BYTES) {
      words[Word.DROPPED] += 1;
      return;
    }
    if (rest > 0) this.#ringWords[(place >> 2) + Entry.LENGTH] = REST;
    const at = rest > 0 ? 0 : place;
    const entry = this.#ringWords;
    const word = at >> 2;
    entry[word + Entry.LENGTH] = lengthBytes;
    for (let i = 0; i < 4; i += 1) entry[word + Entry.SOURCE + i] = meta.sourceWords[i];
    entry[word + Entry.PORT] = meta.sourcePort;
    entry[word + Entry.TRAFFIC_CLASS] = meta.trafficClass;
    entry[word + Entry.HOP_LIMIT] = meta.hopLimit;
    entry[word + Entry.FLOW_LABEL] = meta.flowLabel;
    this.#ring.set(bytes.subarray(offset, offset + lengthBytes), at + Entry.BYTES);
    words[Word.KEPT] += 1;
    Atomics.store(words, Word.PRODUCER, end);
  }

  count(rnrNaks: number, mras: number): void {
    this.#words[Word.RNR_NAKS] = rnrNaks;
    this.#words[Word.MRAS] = mras;
  }
}

function entryBytes(packetBytes: number): number {
  return (Entry.BYTES + packetBytes + Entry.ALIGN - 1) & -Entry.ALIGN;
}
