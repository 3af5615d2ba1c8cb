/** What captures saw, as far as it is RoCE. */
import type { CaptureRecord, CmMessage, Packet } from '../../../device/wire/index.js';
import { examine, type Examined } from '../dump/examine.js';
import { segmentsOf } from '../dump/segments.js';
import { placeFiles, type Placement } from './vantages.js';

/** A packet without its data, of which only the length matters: captures are long. */
export interface SeenPacket extends Omit<Packet, 'payload' | 'padding'> {
  readonly payloadBytes: number;
}

/** A packet where somebody looked on. */
export interface Sighting {
  /** Since the first frame of its file; two files may have been written by two clocks. */
  readonly timeUs: number;
  /** Its file, from 0 on, and its place among all sightings: within a file those that come later were seen later. */
  readonly file: number;
  readonly order: number;
  /** Whether who looked on sent it or received it; undefined where neither the file tells nor another one. */
  direction: 'in' | 'out' | undefined;
  /** Its file does not tell where it was made, and is taken for that of one end: it may be from anywhere on the way there. */
  placed: boolean;
  readonly source: string;
  readonly destination: string;
  readonly packet: SeenPacket;
  readonly cm: CmMessage | undefined;
  /** Its ICRC is wrong: what stands in it may be anything. */
  readonly damaged: boolean;
  /** By which datagrams of one file are told apart; undefined where the capture cut it off. */
  readonly icrc: number | undefined;
}

/** The frames of some capture files, and where these were written. */
export class Sightings {
  all: Sighting[] = [];
  frames = 0;
  unreadable = 0;
  /** Files that do not tell who sent what, and where they are taken to have been made. */
  placements: readonly Placement[] = [];
  /** Addresses at which somebody looked on: what they sent is here whether it arrived or not, and what arrived there. */
  readonly #vantages = new Set<string>();
  #startNs: bigint | undefined;
  readonly #files: { readonly name: string; hasFrames: boolean }[] = [];

  /** The records that follow are of another file. */
  beginFile(name = ''): void {
    this.#startNs = undefined;
    this.#files.push({ name, hasFrames: false });
  }

  /** There are no more files. One without a frame is the other side's, which nothing has reached. */
  end(): void {
    const anEmptyOne = this.#files.some(({ hasFrames }) => !hasFrames);
    const { kept, placements } = placeFiles(this.all, anEmptyOne);
    this.all = kept;
    this.placements = placements.map((placement) => ({ ...placement, name: this.#files[placement.file].name }));
    for (const { direction, source, destination } of this.all)
      if (direction !== undefined) this.#vantages.add(direction === 'out' ? source : destination);
    if (!anEmptyOne || this.#vantages.size === 0) return;
    for (const { source, destination } of this.all) this.#vantages.add(source).add(destination);
  }

  add(record: CaptureRecord): void {
    const file = this.#files.length - 1;
    this.#files[file].hasFrames = true;
    this.#startNs ??= record.timestampNs;
    this.frames += 1;
    const examined = examine(record, this.frames, this.#startNs);
    if (typeof examined === 'string') return;
    const segments = examined.verdict === 'wrong' ? segmentsOf(record.linkType, record.data, examined.datagram) : [];
    if (segments.length === 0) this.#note(examined, file);
    for (const data of segments) {
      const segment = examine({ ...record, data }, this.frames, this.#startNs);
      if (typeof segment !== 'string') this.#note(segment, file);
    }
  }

  #note(examined: Examined, file: number): void {
    const { packet, addresses, verdict, timeNs, mad, direction, storedIcrc } = examined;
    if (packet === undefined) {
      this.unreadable += 1;
      return;
    }
    const { payload, padding: _, ...headers } = packet;
    this.all.push({
      timeUs: Number(timeNs) / 1000,
      file,
      order: this.all.length,
      direction,
      placed: false,
      source: addresses.source,
      destination: addresses.destination,
      packet: { ...headers, payloadBytes: payload.length },
      cm: mad?.cm,
      damaged: verdict === 'wrong',
      icrc: storedIcrc,
    });
  }

  /** Whether somebody looked on at an address. */
  isVantage(address: string): boolean {
    return this.#vantages.has(address);
  }
}

/**
 * By which two files know the same packet. Not by its ICRC, which holds the IP identification: that is set after
 * the sender has seen the packet for the last time, where the system cuts one long datagram into many.
 */
export function nameOf({ packet: { bth, aeth, payloadBytes } }: Sighting): string {
  const answer = aeth === undefined ? '' : `${aeth.syndrome} ${aeth.msn}`;
  return `${bth.destQp} ${bth.opcode} ${bth.psn} ${bth.ackRequest} ${payloadBytes} ${answer}`;
}

export const psnOf = ({ packet }: Sighting): number => packet.bth.psn;
