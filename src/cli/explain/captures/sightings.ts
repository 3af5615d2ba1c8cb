/** What captures saw, as far as it is RoCE. */
import {
  type CaptureRecord,
  crc32,
  datagramAddresses,
  datagramAt,
  FlowTable,
  IcrcVerdict,
  PacketView,
  segmentsOf,
} from '../../../device/wire/index.js';
import type { CapturedExchange } from '../../../protocols/dissect/index.js';
import { Meanings, readPacket } from '../../dump/meanings.js';
import { clockShifts } from './clocks.js';
import type { Sighting } from './sighting.js';
import { placeFiles, type Placement } from './vantages.js';

/** The frames of some capture files, and where these were written. */
export class Sightings {
  all: Sighting[] = [];
  frames = 0;
  unreadable = 0;
  /** Files that do not tell sent packets from received ones, with the places assumed for them. */
  placements: readonly Placement[] = [];
  /** Addresses with a capture: it has what they sent, whether it arrived or not, and what arrived there. */
  readonly #vantages = new Set<string>();
  #startNs: bigint | undefined;
  /** One for each file. */
  readonly #meanings: Meanings[] = [];
  readonly #flows = new FlowTable();
  readonly #view = new PacketView(crc32);
  readonly #files: { readonly name: string; startNs: bigint | undefined }[] = [];
  #shiftsUs: readonly number[] = [];

  beginFile(name = ''): void {
    this.#startNs = undefined;
    this.#meanings.push(new Meanings(this.#flows));
    this.#files.push({ name, startNs: undefined });
  }

  /** There are no more files. One without a frame is the other side's, which nothing has reached. */
  end(): void {
    const anEmptyOne = this.#files.some(({ startNs }) => startNs === undefined);
    const { kept, placements } = placeFiles(this.all, anEmptyOne);
    this.#shiftsUs = clockShifts(
      kept,
      this.#files.map(({ startNs }) => startNs),
    );
    this.all = kept.map((sighting) => ({ ...sighting, timeUs: sighting.timeUs + this.#shiftsUs[sighting.file] }));
    this.placements = placements.map((placement) => ({ ...placement, name: this.#files[placement.file].name }));
    for (const { direction, source, destination } of this.all)
      if (direction !== undefined) this.#vantages.add(direction === 'out' ? source : destination);
    if (!anEmptyOne || this.#vantages.size === 0) return;
    for (const { source, destination } of this.all) this.#vantages.add(source).add(destination);
  }

  add(record: CaptureRecord): void {
    const file = this.#files.length - 1;
    this.#startNs ??= record.timestampNs;
    this.#files[file].startNs = this.#startNs;
    this.frames += 1;
    const view = this.#view;
    if (view.examine(record.linkType, record.data, 0, record.data.length) !== undefined) return;
    const segments = view.icrc === IcrcVerdict.WRONG ? segmentsOf(record.linkType, record.data) : [];
    if (segments.length === 0) this.#note(record, file);
    for (const data of segments)
      if (view.examine(record.linkType, data, 0, data.length) === undefined) this.#note(record, file);
  }

  #note({ timestampNs, direction, comment }: CaptureRecord, file: number): void {
    const view = this.#view;
    const timeNs = Number(timestampNs - (this.#startNs ?? 0n));
    const found = readPacket(view);
    const meaning = this.#meanings[file].next(view, timeNs, () => found);
    if (found === undefined) {
      this.unreadable += 1;
      return;
    }
    const { packet, mad } = found;
    const { payload, padding: _, ...headers } = packet;
    this.all.push({
      timeUs: timeNs / 1000,
      file,
      order: this.all.length,
      direction,
      placed: false,
      ...datagramAddresses(datagramAt(view.bytes, view.place)),
      packet: { ...headers, payloadBytes: payload.length },
      cm: mad?.cm,
      meaning,
      comment,
      damaged: view.icrc === IcrcVerdict.WRONG,
      icrc: view.icrc === IcrcVerdict.CUT ? undefined : view.storedIcrc,
    });
  }

  /** What took several messages of a protocol. Files of both sides have the same, so it is told from the first that has any. */
  get exchanges(): readonly CapturedExchange[] {
    const file = this.#meanings.findIndex(({ conversations }) => conversations.exchanges.length > 0);
    if (file < 0) return [];
    const shiftUs = this.#shiftsUs[file] ?? 0;
    return this.#meanings[file].conversations.exchanges.map((each) => ({ ...each, timeUs: each.timeUs + shiftUs }));
  }

  isVantage(address: string): boolean {
    return this.#vantages.has(address);
  }
}
