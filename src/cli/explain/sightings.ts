/** What captures saw, as far as it is RoCE. */
import { type CmMessage, type Packet, type CaptureRecord } from '../../wire/index.js';
import { examine } from '../dump/examine.js';

/** A packet without its data, of which only the length matters: captures are long. */
export interface SeenPacket extends Omit<Packet, 'payload' | 'padding'> {
  readonly payloadBytes: number;
}

/** A packet where somebody looked on. */
export interface Sighting {
  /** Since the first frame of its file; two files may have been written by two clocks. */
  readonly timeUs: number;
  /** Whether who looked on sent it or received it; undefined where the file does not tell. */
  readonly direction: 'in' | 'out' | undefined;
  readonly source: string;
  readonly destination: string;
  readonly packet: SeenPacket;
  readonly cm: CmMessage | undefined;
  /** Its ICRC is wrong: what stands in it may be anything. */
  readonly damaged: boolean;
}

/** The frames of some capture files, and where these were written. */
export class Sightings {
  readonly all: Sighting[] = [];
  frames = 0;
  unreadable = 0;
  /** Addresses at which somebody looked on: what they sent is here whether it arrived or not, and what arrived there. */
  readonly #vantages = new Set<string>();
  #startNs: bigint | undefined;
  #files = 0;
  #filesWithFrames = 0;

  /** The records that follow are of another file. */
  beginFile(): void {
    this.#startNs = undefined;
    this.#files += 1;
  }

  /** There are no more files. One without a frame is the other side's, which nothing has reached. */
  end(): void {
    if (this.#filesWithFrames === this.#files || this.#vantages.size === 0) return;
    for (const { source, destination } of this.all) this.#vantages.add(source).add(destination);
  }

  add(record: CaptureRecord): void {
    if (this.#startNs === undefined) this.#filesWithFrames += 1;
    this.#startNs ??= record.timestampNs;
    this.frames += 1;
    const examined = examine(record, this.frames, this.#startNs);
    if (typeof examined === 'string') return;
    const { packet, addresses, verdict, timeNs, mad } = examined;
    if (packet === undefined) {
      this.unreadable += 1;
      return;
    }
    const { source, destination } = addresses;
    const { payload, padding: _, ...headers } = packet;
    const seen = { ...headers, payloadBytes: payload.length };
    const { direction } = record;
    if (direction !== undefined) this.#vantages.add(direction === 'out' ? source : destination);
    const damaged = verdict === 'wrong';
    this.all.push({
      timeUs: Number(timeNs) / 1000,
      direction,
      source,
      destination,
      packet: seen,
      cm: mad?.cm,
      damaged,
    });
  }

  /** Whether somebody looked on at an address. */
  isVantage(address: string): boolean {
    return this.#vantages.has(address);
  }
}

export const psnOf = ({ packet }: Sighting): number => packet.bth.psn;
