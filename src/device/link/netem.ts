/** Disturbance: a link whose packets fare as on a bad network, by the rules of the simulated one. */
import { type Crc32, hasHeadersTwice, PacketMeta, type Path, sealIcrc } from '../wire/index.js';
import { ArenaSink } from './arena-sink.js';
import { LinkAround } from './link-around.js';
import type { Link, PacketReceiver, PacketSink } from './link.js';
import type { NetemSettings } from './netem-words.js';
import { Direction } from './simulated/direction.js';
import { EventQueue } from './simulated/event-queue.js';
import { type ChanceCounts, Fate, flipBits } from './simulated/fate.js';
import { ipUdpBytes } from './simulated/packet.js';
import { SeededRandom } from './simulated/random.js';

export interface DisturbOptions {
  /** The caller's clock, in µs. */
  readonly clockUs: () => number;
  readonly crc32: Crc32;
}

/** What was done to packets, both ways together. */
class NetemCounts implements ChanceCounts {
  lost = 0;
  duplicated = 0;
  reordered = 0;
  corrupted = 0;
  /** Those that did not go on at once. */
  delayed = 0;
  /** Found no room among those held back. */
  dropped = 0;
}

/** A packet and where it goes, or whence it came. */
interface Packet<Way> {
  readonly way: Way;
  readonly bytes: Uint8Array;
  readonly offset: number;
  readonly lengthBytes: number;
  readonly flips: readonly number[];
}

class Disturbance<Way extends { readonly ipv6: boolean }> {
  readonly held = new EventQueue<Packet<Way>>();
  readonly #fate = new Fate();
  readonly #random: SeededRandom;
  readonly #direction: Direction;

  /**
   * @param pass where packets go on
   * @param keep gives what may be kept of a way
   */
  constructor(
    private readonly settings: NetemSettings,
    private readonly counts: NetemCounts,
    seed: number,
    private readonly pass: (packet: Packet<Way>) => void,
    private readonly keep: (way: Way) => Way,
  ) {
    this.#random = new SeededRandom(seed);
    this.#direction = new Direction('', '', settings.conditions);
  }

  /** Lets one packet go on, now or later, if it does. `bytes` are not kept. */
  take(nowUs: number, way: Way, bytes: Uint8Array, offset: number, lengthBytes: number): void {
    if (this.held.size >= this.settings.limitPackets) {
      this.counts.dropped += 1;
      return;
    }
    const departureUs = this.#direction.serialise(nowUs, lengthBytes + ipUdpBytes(way.ipv6));
    const fate = this.#fate;
    fate.draw(this.#direction, departureUs, lengthBytes, this.#random, this.counts);
    const { arrivalUs, duplicateUs, flips } = fate;
    if (duplicateUs >= 0) this.#place(nowUs, duplicateUs, { way, bytes, offset, lengthBytes, flips: [] });
    if (arrivalUs < 0) return;
    if (arrivalUs > nowUs) this.counts.delayed += 1;
    this.#place(nowUs, arrivalUs, { way, bytes, offset, lengthBytes, flips });
  }

  /** Lets go on what is due. @returns how many packets that were */
  release(nowUs: number): number {
    let released = 0;
    for (let packet = this.held.popDue(nowUs); packet !== undefined; packet = this.held.popDue(nowUs)) {
      this.pass(packet);
      released += 1;
    }
    return released;
  }

  #place(nowUs: number, dueUs: number, packet: Packet<Way>): void {
    if (dueUs <= nowUs) {
      this.pass(packet);
      return;
    }
    const { way, bytes, offset, lengthBytes, flips } = packet;
    const copy = bytes.slice(offset, offset + lengthBytes);
    this.held.push(dueUs, { way: this.keep(way), bytes: copy, offset: 0, lengthBytes, flips: [...flips] });
  }
}

function copyOf(meta: PacketMeta): PacketMeta {
  const copy = new PacketMeta();
  copy.ipv6 = meta.ipv6;
  copy.source.set(meta.source);
  copy.destination.set(meta.destination);
  copy.sourcePort = meta.sourcePort;
  copy.trafficClass = meta.trafficClass;
  copy.hopLimit = meta.hopLimit;
  copy.flowLabel = meta.flowLabel;
  copy.ipId = meta.ipId;
  return copy;
}

/**
 * A link whose packets are lost, doubled, changed, held back and let past each other. The link below must be one whose
 * packets have an ICRC, for a changed one is found by that. Ethernet frames pass untouched.
 */
export class DisturbedLink extends LinkAround {
  readonly sink: PacketSink;
  readonly #counts = new NetemCounts();
  readonly #clockUs: () => number;
  readonly #crc32: Crc32;
  readonly #sink: ArenaSink | undefined;
  readonly #out: Disturbance<Path> | undefined;
  readonly #in: Disturbance<PacketMeta> | undefined;
  readonly #receiver: Required<PacketReceiver>;
  #target: PacketReceiver | undefined;
  #nowUs = 0;

  constructor(inner: Link, settings: NetemSettings, { clockUs, crc32 }: DisturbOptions) {
    super(inner);
    this.#clockUs = clockUs;
    this.#crc32 = crc32;
    const { direction, seed } = settings;
    if (direction !== 'in') {
      // Apart from the link's own memory, which packets that leave later must not hold.
      this.#sink = new ArenaSink(inner.maxPacketBytes);
      this.#out = new Disturbance(
        settings,
        this.#counts,
        seed,
        (packet) => this.#send(packet),
        (path) => path,
      );
    }
    if (direction !== 'out') {
      // What arrives does not fare as what is sent, nor does one depend on how many there are of the other.
      this.#in = new Disturbance(settings, this.#counts, ~seed, (packet) => this.#handOver(packet), copyOf);
    }
    this.sink = this.#sink ?? inner.sink;
    this.#receiver = {
      receive: (bytes, offset, lengthBytes, meta) => this.#in?.take(this.#nowUs, meta, bytes, offset, lengthBytes),
      receiveFrame: (bytes, offset, lengthBytes) => this.#target?.receiveFrame?.(bytes, offset, lengthBytes),
      onGone: (way) => this.#target?.onGone?.(way),
    };
  }

  receive(receiver: PacketReceiver, maxPackets: number): number {
    if (this.#in === undefined) return this.inner.receive(receiver, maxPackets);
    this.#target = receiver;
    this.#nowUs = this.#clockUs();
    return this.#in.release(this.#nowUs) + this.inner.receive(this.#receiver, maxPackets);
  }

  override flush(): void {
    if (this.#sink !== undefined) this.#flushOut(this.#sink, this.#clockUs());
    this.inner.flush();
  }

  #flushOut(sink: ArenaSink, nowUs: number): void {
    this.#out?.release(nowUs);
    for (const { path, offset, lengthBytes } of sink.pending)
      this.#out?.take(nowUs, path, sink.bytes, offset, lengthBytes);
    sink.discard();
  }

  override nextDueUs(): number {
    return Math.min(this.#out?.held.nextUs ?? Infinity, this.#in?.held.nextUs ?? Infinity);
  }

  #send({ way, bytes, offset, lengthBytes, flips }: Packet<Path>): void {
    const { inner } = this;
    const { sink } = inner;
    let at = sink.reserve(way, lengthBytes);
    if (at < 0) {
      inner.flush();
      at = sink.reserve(way, lengthBytes);
      if (at < 0) {
        this.#counts.dropped += 1;
        return;
      }
    }
    sink.bytes.set(bytes.subarray(offset, offset + lengthBytes), at);
    if (!way.ipv6 && sink.ipId !== 0) {
      const twice = hasHeadersTwice(this.#crc32, way, sink.bytes, at, lengthBytes);
      sealIcrc(this.#crc32, way, sink.bytes, at, lengthBytes, sink.ipId, twice);
    }
    flipBits(sink.bytes, at, flips);
    sink.commit();
  }

  #handOver({ way, bytes, offset, lengthBytes, flips }: Packet<PacketMeta>): void {
    flipBits(bytes, offset, flips);
    this.#target?.receive(bytes, offset, lengthBytes, way);
  }

  override close(): void {
    // A program that ends does not take back what it has sent.
    this.#out?.release(Infinity);
    this.inner.flush();
    this.inner.close();
  }

  override statistics(): Record<string, number> {
    const counts = Object.entries(this.#counts).map(([name, count]) => [`netem_${name}`, count] as const);
    return { ...this.inner.statistics(), ...Object.fromEntries(counts) };
  }
}

/** Has the packets of a link disturbed. The link returned takes the place of the one given. */
export function disturb(link: Link, settings: NetemSettings, options: DisturbOptions): DisturbedLink {
  return new DisturbedLink(link, settings, options);
}
