/** The packets of all captures, in one table, and where and when each was seen. */
import {
  type CmAttribute,
  type CmMessage,
  decodeCmMessage,
  Direction,
  FlowTable,
  PacketBit,
  PacketTable,
} from '../../../device/wire/index.js';
import type { CapturedExchange } from '../../../protocols/dissect/index.js';
import { CaptureFile, keyOf } from './capture-file.js';
import { alignClocks } from './clocks.js';
import { forgiveBlankIcrcs, type Warning } from './icrcs.js';
import { joinSeries } from './series.js';
import { type Placement, placeFiles } from './vantages.js';

/** Bits of a row by which the file that its chunk is of is found. */
const CHUNK_BITS = 14;
/** Messages of connection managers that are looked at. */
const MAX_CM_MESSAGES = 200_000;

/** A message of connection managers. */
export interface CmSighting<M extends CmMessage = CmMessage> {
  readonly row: number;
  readonly cm: M;
  readonly timeUs: number;
  readonly source: string;
  readonly destination: string;
  readonly direction: Direction;
  readonly group: number;
}

export class Sightings {
  readonly flows = new FlowTable();
  /** In the order of their first frames, once all are read. */
  files: CaptureFile[] = [];
  /** The packets of all files. Rows of one group count up with its time. */
  table = new PacketTable(this.flows);
  /** Messages of connection managers that came whole, in the order of rows. */
  cms: readonly CmSighting[] = [];
  /** Files that do not tell sent packets from received ones, with the places assumed for them. */
  placements: readonly Placement[] = [];
  /** What was assumed, or left out. */
  readonly warnings: Warning[] = [];
  /** Addresses with a capture: it has what they sent, whether it arrived or not, and what arrived there. */
  readonly #vantages = new Set<string>();
  readonly #senders = new Set<string>();
  /** By group and flow: whether a place was assumed, and whether rows are left out because other files show the same. */
  readonly #placed = new Set<number>();
  readonly #dropped = new Set<number>();
  /** By chunk. */
  #fileOf: CaptureFile[] = [];

  /** The pieces that are fed then are of another file. */
  beginFile(name = ''): CaptureFile {
    const file = new CaptureFile(name, this.flows);
    this.files.push(file);
    return file;
  }

  /** There are no more files. One without a frame is the other side's, which nothing has reached. */
  end(): void {
    for (const file of this.files) file.end();
    this.#join();
    const { files, table } = this;
    joinSeries(files, table);
    this.warnings.push(...forgiveBlankIcrcs(files, table));
    const anEmptyOne = files.some(({ frames }) => frames === 0);
    const { placements, placed, dropped } = placeFiles(files, table, anEmptyOne);
    this.placements = placements;
    for (const key of placed) this.#placed.add(key);
    for (const key of dropped) this.#dropped.add(key);
    alignClocks(files, table);
    this.cms = this.#findCms();
    this.#findVantages(anEmptyOne);
  }

  #join(): void {
    // An empty file has no time, and comes last.
    const [empty, full] = [0, 1].map((want) => this.files.filter(({ frames }) => Number(frames > 0) === want));
    this.files = [...full.sort((a, b) => a.nsSince(b)), ...empty];
    for (const file of this.files) {
      file.begin = this.table.take(file.table);
      file.endRow = file.table.packets === 0 ? file.begin : this.table.end;
      for (let chunk = file.begin >>> CHUNK_BITS; chunk << CHUNK_BITS < file.endRow; chunk += 1)
        this.#fileOf[chunk] = file;
    }
  }

  #findCms(): CmSighting[] {
    const { table } = this;
    const found: CmSighting[] = [];
    let more = 0;
    for (const row of this.rows()) {
      const bits = table.bits(row);
      if ((bits & PacketBit.MAD) === 0 || (bits & PacketBit.WRONG_ICRC) !== 0) continue;
      const cm = decodeCmMessage(table.mad(row));
      if (cm === undefined) continue;
      if (found.length >= MAX_CM_MESSAGES) {
        more += 1;
        continue;
      }
      found.push({
        row,
        cm,
        timeUs: this.timeUs(row),
        source: this.source(row),
        destination: this.destination(row),
        direction: table.direction(row),
        group: this.group(row),
      });
    }
    if (more > 0)
      this.warnings.push({
        text: `of the connection managers' messages the last ${more} were not looked at`,
        fields: { warning: 'cm-messages-left-out', messages: more },
      });
    return found;
  }

  #findVantages(anEmptyOne: boolean): void {
    const { table, flows } = this;
    const seen = new Set<number>();
    for (const row of this.rows()) seen.add(table.flow(row) * 4 + table.direction(row));
    for (const key of seen) {
      const direction = key & 3;
      const flow = key >> 2;
      this.#senders.add(flows.source(flow));
      if (direction !== Direction.UNKNOWN)
        this.#vantages.add(direction === Direction.OUT ? flows.source(flow) : flows.destination(flow));
    }
    if (!anEmptyOne || this.#vantages.size === 0) return;
    for (const key of seen) this.#vantages.add(flows.source(key >> 2)).add(flows.destination(key >> 2));
  }

  /** All rows but those that are left out, in order. */
  *rows(): Generator<number, void, undefined> {
    const { table } = this;
    for (const file of this.files)
      for (let row = file.begin; row < file.endRow; row += 1)
        if (this.#dropped.size === 0 || !this.#dropped.has(keyOf(file.group, table.flow(row)))) yield row;
  }

  /** Of the earliest file's first frame. */
  timeUs(row: number): number {
    return this.table.timeNs(row) / 1000;
  }

  source(row: number): string {
    return this.flows.source(this.table.flow(row));
  }

  destination(row: number): string {
    return this.flows.destination(this.table.flow(row));
  }

  /** The file that a row is of. */
  fileOf(row: number): CaptureFile {
    return this.#fileOf[row >>> CHUNK_BITS];
  }

  group(row: number): number {
    return this.#fileOf[row >>> CHUNK_BITS].group;
  }

  /** Its file does not say where it was captured, and counts as that of one end: it may be from anywhere on the path. */
  isPlaced(row: number): boolean {
    return this.#placed.size > 0 && this.#placed.has(keyOf(this.group(row), this.table.flow(row)));
  }

  /** Whether the ICRC is wrong: what is in the packet may be anything. */
  isDamaged(row: number): boolean {
    return (this.table.bits(row) & PacketBit.WRONG_ICRC) !== 0;
  }

  /** What a protocol of this package means by a packet. */
  meaning(row: number): string | undefined {
    const file = this.fileOf(row);
    return file.meaningOf.get(row - file.begin);
  }

  /** What a responder of this package wrote beside a refusal. */
  comment(row: number): string | undefined {
    const file = this.fileOf(row);
    return file.commentOf.get(row - file.begin);
  }

  /** What took several messages of a protocol. Files of both sides have the same, so it is told from the first that has any. */
  get exchanges(): readonly CapturedExchange[] {
    const file = this.files.find(({ meanings }) => meanings.conversations.exchanges.length > 0);
    if (file === undefined) return [];
    const shiftUs = file.shiftNs / 1000;
    return file.meanings.conversations.exchanges.map((each) => ({ ...each, timeUs: each.timeUs + shiftUs }));
  }

  /** Whether there is a capture of an address. */
  isVantage(address: string): boolean {
    return this.#vantages.has(address);
  }

  /** Whether any packet of an address was captured. */
  isSeen(address: string): boolean {
    return this.#senders.has(address);
  }

  /** When the last packet of any file was captured. */
  get endUs(): number {
    const ends = this.files.filter(({ begin, endRow }) => endRow > begin).map(({ endRow }) => this.timeUs(endRow - 1));
    return Math.max(0, ...ends);
  }
}

/** Whether a message of connection managers has an attribute. */
export function isCm<A extends CmAttribute>(
  sighting: CmSighting,
  attribute: A,
): sighting is CmSighting<Extract<CmMessage, { readonly attribute: A }>> {
  return sighting.cm.attribute === attribute;
}
