import type { Happening, NetworkWatcher, SimulatedFrame, SimulatedPacket } from '../device/link/index.js';
import { buildIpUdpHeader, fillUdpChecksum, ipUdpHeaderBytes } from '../device/wire/index.js';
import { runtime } from '../api/runtime/index.js';
import { VerbsError } from '../api/verbs/index.js';
import { packetFields, type PacketFields } from './packet.js';

/** A packet that a host has sent, and what became of it. */
export interface SimPacket extends PacketFields {
  /** Counts what the network carries, from 0. */
  readonly index: number;
  /** When it was sent, in µs of virtual time. */
  readonly sentUs: number;
  /** The hosts, by name; what belongs to none by its address. */
  readonly from: string;
  readonly to: string;
  /**
   * What has happened to it so far, in order: `['delivered']`, `['lost']`, `['duplicated', 'delivered', 'delivered']`;
   * `[]` while it is under way.
   */
  readonly fate: readonly Happening[];
  /** When it arrived, once for each time. */
  readonly deliveredUs: readonly number[];
  /** BTH to ICRC, as it was sent. Do not write to it. */
  readonly bytes: Uint8Array;
}

/** A packet at one end of its way, and when it was there, in the order of all that happened. */
interface Moment {
  readonly order: number;
  readonly timeUs: number;
  readonly packet: SimulatedPacket;
}

interface Entry extends Moment {
  readonly fate: Happening[];
  /** As it came, damage and all. */
  readonly arrivals: Moment[];
  fields?: PacketFields;
}

/** The packets of a simulated network, the newest of them where there are too many. */
export class Capture implements NetworkWatcher {
  /** By index, the oldest first. */
  readonly #entries = new Map<number, Entry>();
  #bytes = 0;
  #forgotten = 0;
  #order = 0;

  constructor(
    private readonly limitBytes: number,
    private readonly nowUs: () => number,
    private readonly nameOf: (address: string) => string,
  ) {}

  sent(packet: SimulatedPacket): void {
    this.#entries.set(packet.index, this.#entryOf(packet));
    this.#bytes += packet.bytes.length;
    while (this.#bytes > this.limitBytes) this.#forgetOldest();
  }

  happened(index: number, what: Happening, packet: SimulatedPacket | SimulatedFrame): void {
    const entry = this.#entries.get(index);
    if (entry === undefined) return;
    entry.fate.push(what);
    if (what === 'delivered' && packet.header !== undefined)
      entry.arrivals.push({ order: this.#order++, timeUs: this.nowUs(), packet });
  }

  /** A packet that was just sent. */
  describe(packet: SimulatedPacket): SimPacket {
    return this.#describe(this.#entries.get(packet.index) ?? this.#entryOf(packet));
  }

  /** @throws VerbsError ENOBUFS when some were forgotten */
  packets(): SimPacket[] {
    if (this.#forgotten > 0)
      throw new VerbsError('sim.packets', {
        errno: 'ENOBUFS',
        message: `the oldest ${this.#forgotten} packets were forgotten: more than ${this.limitBytes} bytes were sent`,
        advice: 'Raise captureBytes, or take a rule (sim.when) that looks at packets as they are sent',
      });
    return [...this.#entries.values()].map((entry) => this.#describe(entry));
  }

  /** Those that are kept, at most `count` of them, the newest last. */
  newest(count: number): SimPacket[] {
    return [...this.#entries.values()].slice(-count).map((entry) => this.#describe(entry));
  }

  /**
   * Each packet where it was sent, and again each time it arrived: what captures at both hosts show.
   *
   * @param seenAt says whose captures, by address
   * @returns where it was written: elsewhere, when another capture is being written to that file
   */
  write(path: string, seenAt: (address: string) => boolean): string {
    const file = runtime().openCapture(path);
    const moments = [...this.#entries.values()].flatMap(({ arrivals, ...sent }) => {
      const { from, to } = sent.packet;
      const about = `${this.nameOf(from)} > ${this.nameOf(to)}`;
      const departure = { ...sent, direction: 'out', comment: `${about}: ${formatFate(sent.fate)}` } as const;
      const came = arrivals.map((each) => ({ ...each, direction: 'in', comment: `${about}: arrived` }) as const);
      return [...(seenAt(from) ? [departure] : []), ...(seenAt(to) ? came : [])];
    });
    try {
      for (const { timeUs, packet, direction, comment } of moments.sort((a, b) => a.order - b.order))
        file.record(BigInt(Math.round(timeUs * 1000)), ipPacketOf(packet), direction, comment);
    } finally {
      file.close();
    }
    if (file.failure !== undefined) throw file.failure;
    return file.path;
  }

  #entryOf(packet: SimulatedPacket): Entry {
    return { order: this.#order++, timeUs: packet.sentAtUs, packet, fate: [], arrivals: [] };
  }

  #describe(entry: Entry): SimPacket {
    const { packet: sent, fate, arrivals } = entry;
    entry.fields ??= packetFields(sent.bytes);
    return {
      index: sent.index,
      sentUs: sent.sentAtUs,
      from: this.nameOf(sent.from),
      to: this.nameOf(sent.to),
      ...entry.fields,
      fate: [...fate],
      deliveredUs: arrivals.map(({ timeUs }) => timeUs),
      bytes: sent.bytes,
    };
  }

  #forgetOldest(): void {
    const [oldest] = this.#entries.values();
    this.#entries.delete(oldest.packet.index);
    this.#bytes -= oldest.packet.bytes.length;
    this.#forgotten += 1;
  }
}

/** A packet with the IP and UDP headers that it would have on a real wire. */
function ipPacketOf({ header, bytes }: SimulatedPacket): Uint8Array {
  const headerBytes = ipUdpHeaderBytes(header.ipv6);
  const packet = new Uint8Array(headerBytes + bytes.length);
  buildIpUdpHeader(packet, 0, { ...header, ipId: Math.max(0, header.ipId) }, bytes.length);
  packet.set(bytes, headerBytes);
  if (header.ipv6) fillUdpChecksum(packet, 0, true);
  return packet;
}

/** `12.5 µs client > server RC_SEND_ONLY qpn=0x000123 psn=0x000000 payload=5: delivered`. */
export function formatSimPacket({ sentUs, from, to, text, fate }: SimPacket): string {
  return `${formatUs(sentUs)} ${from} > ${to} ${text}: ${formatFate(fate)}`;
}

function formatFate(fate: readonly Happening[]): string {
  return fate.length === 0 ? 'under way' : fate.join(', ');
}

/** Virtual time in words. */
export function formatUs(timeUs: number): string {
  return `${String(Math.round(timeUs * 1000) / 1000)} µs`;
}
