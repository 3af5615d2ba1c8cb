import { type Happening, type NetworkWatcher, PcapngFile, type SimulatedPacket } from '../link/index.js';
import { VerbsError } from '../verbs/index.js';
import { buildIpUdpHeader, fillUdpChecksum, ipUdpHeaderBytes } from '../wire/index.js';
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

interface Entry {
  readonly sent: SimulatedPacket;
  readonly fate: Happening[];
  readonly deliveredUs: number[];
  fields?: PacketFields;
}

/** The packets of a simulated network, the newest of them where there are too many. */
export class Capture implements NetworkWatcher {
  /** By index, the oldest first. */
  readonly #entries = new Map<number, Entry>();
  #bytes = 0;
  #forgotten = 0;

  constructor(
    private readonly limitBytes: number,
    private readonly nowUs: () => number,
    private readonly nameOf: (address: string) => string,
  ) {}

  sent(packet: SimulatedPacket): void {
    this.#entries.set(packet.index, { sent: packet, fate: [], deliveredUs: [] });
    this.#bytes += packet.bytes.length;
    while (this.#bytes > this.limitBytes) this.#forgetOldest();
  }

  happened(index: number, what: Happening): void {
    const entry = this.#entries.get(index);
    entry?.fate.push(what);
    if (what === 'delivered') entry?.deliveredUs.push(this.nowUs());
  }

  /** A packet that was just sent. */
  describe(packet: SimulatedPacket): SimPacket {
    return this.#describe(this.#entries.get(packet.index) ?? { sent: packet, fate: [], deliveredUs: [] });
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

  /** @returns where it was written: elsewhere, when another capture is being written to that file */
  write(path: string): string {
    const file = new PcapngFile(path, { warn: () => undefined });
    try {
      for (const entry of this.#entries.values()) {
        const { from, to, fate, sentUs } = this.#describe(entry);
        const comment = `${from} > ${to}: ${fate.length === 0 ? 'under way' : fate.join(', ')}`;
        file.record(BigInt(Math.round(sentUs * 1000)), ipPacketOf(entry.sent), 'out', comment);
      }
    } finally {
      file.close();
    }
    if (file.failure !== undefined) throw file.failure;
    return file.path;
  }

  #describe(entry: Entry): SimPacket {
    const { sent, fate, deliveredUs } = entry;
    entry.fields ??= packetFields(sent.bytes);
    return {
      index: sent.index,
      sentUs: sent.sentAtUs,
      from: this.nameOf(sent.from),
      to: this.nameOf(sent.to),
      ...entry.fields,
      fate: [...fate],
      deliveredUs: [...deliveredUs],
      bytes: sent.bytes,
    };
  }

  #forgetOldest(): void {
    const [oldest] = this.#entries.values();
    this.#entries.delete(oldest.sent.index);
    this.#bytes -= oldest.sent.bytes.length;
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
  const end = fate.length === 0 ? 'under way' : fate.join(', ');
  return `${formatUs(sentUs)} ${from} > ${to} ${text}: ${end}`;
}

/** Virtual time in words. */
export function formatUs(timeUs: number): string {
  return `${String(Math.round(timeUs * 1000) / 1000)} µs`;
}
