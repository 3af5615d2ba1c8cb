/** One capture file, read into a table of packets. */
import {
  crc32,
  Direction,
  type FlowTable,
  IcrcVerdict,
  LinkType,
  PacketCursor,
  PacketTable,
  PacketView,
  segmentsOf,
} from '../../../device/wire/index.js';
import { Meanings, readPacket } from '../../dump/meanings.js';

/** A packet on another interface within this time is a copy of the first: `tcpdump -i any` sees both. */
const COPY_NS = 1e6;
/** A copy of which the file does not tell the interface comes within this time, and right after the first. */
const AT_ONCE_NS = 2e4;
/** Packets in between two copies, at most. */
const RECENT = 64;
const NS_PER_SECOND = 1e9;
/** How our NICs begin what they write beside a refusal. */
export const REFUSED = 'refused ';

/** A group and a flow in one number. */
export const keyOf = (group: number, flow: number): number => group * 0x1_0000_0000 + flow;

/** Packets that were just seen, to know copies on other interfaces by. */
class RecentPackets {
  readonly #rows = new Int32Array(RECENT).fill(-1);
  readonly #interfaces = new Float64Array(RECENT);
  #at = 0;

  constructor(private readonly table: PacketTable) {}

  /** The packet of which the last row is a copy on another interface; -1 if there is none. */
  originalOf(row: number, interfaceId: number): number {
    const { table } = this;
    for (let i = 0; i < RECENT; i += 1) {
      const other = this.#rows[i];
      if (
        other >= 0 &&
        this.#interfaces[i] !== interfaceId &&
        this.#isSame(other, row) &&
        table.timeNs(row) - table.timeNs(other) <= COPY_NS
      )
        return other;
    }
    return -1;
  }

  /** Whether a row is the same packet as the one just before. */
  isCopyOfLast(row: number): boolean {
    const last = this.#rows[(this.#at + RECENT - 1) % RECENT];
    return last >= 0 && this.#isSame(last, row) && this.table.timeNs(row) - this.table.timeNs(last) <= AT_ONCE_NS;
  }

  /** Whether the later of two rows shows the packet of the earlier one a second time. */
  #isSame(a: number, b: number): boolean {
    const { table } = this;
    // What was sent and then received, as on the loopback interface, was seen at both ends.
    if (table.direction(a) === Direction.OUT && table.direction(b) === Direction.IN) return false;
    return (
      table.icrc(a) === table.icrc(b) &&
      table.psn(a) === table.psn(b) &&
      table.flow(a) === table.flow(b) &&
      table.opcode(a) === table.opcode(b) &&
      table.ipId(a) === table.ipId(b)
    );
  }

  note(row: number, interfaceId: number): void {
    this.#rows[this.#at] = row;
    this.#interfaces[this.#at] = interfaceId;
    this.#at = (this.#at + 1) % RECENT;
  }
}

/** A file's packets and what is to say of the file. Feed it all pieces, then call {@link end}. */
export class CaptureFile {
  /** Its packets in the order of their times. */
  table: PacketTable;
  readonly cursor = new PacketCursor();
  readonly meanings: Meanings;
  /** What protocols mean by packets, and what the responder wrote beside its refusals, by row. */
  readonly meaningOf = new Map<number, string>();
  readonly commentOf = new Map<number, string>();
  /** Packets with a malformed BTH or an unknown opcode. */
  unreadable = 0;
  /** Packets with a wrong ICRC, and with headers that the capture cut. */
  wrong = 0;
  /** Copies on other interfaces, which are left out. */
  copies = 0;
  /** Why the file could not be read to its end. */
  failure: Error | undefined;
  /** Its rows in the table of all files. */
  begin = 0;
  endRow = 0;
  /** Files that continue each other, as `tcpdump -C` writes them, have the same group. */
  group = 0;
  /** What was added to its times, so that they begin with the earliest file. */
  shiftNs = 0;
  #lastNs = -Infinity;
  #isSorted = true;
  readonly #recent: RecentPackets;
  readonly #segment = new PacketView(crc32);
  /** More than one was seen. */
  #interfaces = new Set<number>();

  constructor(
    readonly name: string,
    flows: FlowTable,
  ) {
    this.table = new PacketTable(flows);
    this.meanings = new Meanings(flows);
    this.#recent = new RecentPackets(this.table);
  }

  /** Takes a piece of the file. @throws CaptureError when it is damaged */
  feed(piece: Uint8Array): void {
    const { cursor } = this;
    cursor.feed(piece);
    while (cursor.next()) this.#add();
  }

  /** There are no more pieces. */
  end(): void {
    if (this.#isSorted) return;
    const { table, rows } = this.table.inOrderOfTime();
    this.table = table;
    for (const texts of [this.meaningOf, this.commentOf]) {
      const old = new Map(texts);
      texts.clear();
      for (const [row, from] of rows.entries()) {
        const text = old.get(from);
        if (text !== undefined) texts.set(row, text);
      }
    }
  }

  get frames(): number {
    return this.cursor.frames.count;
  }

  /** When its first frame was captured: seconds since 1970. */
  get startSeconds(): number {
    return this.cursor.startSeconds;
  }

  /** Nanoseconds from another file's first frame to this one's, by the clocks that wrote them. */
  nsSince(other: CaptureFile): number {
    const [a, b] = [this.cursor, other.cursor];
    return (a.startSeconds - b.startSeconds) * NS_PER_SECOND + (a.startNanoseconds - b.startNanoseconds);
  }

  #add(): void {
    const { cursor } = this;
    const view = cursor.packet;
    if (view.icrc !== IcrcVerdict.WRONG) {
      this.#note(view);
      return;
    }
    const { frame, bytes } = cursor.frames;
    // A capture before segmentation has one long datagram in place of many.
    const segments = segmentsOf(frame.linkType, bytes.slice(frame.begin, frame.end));
    if (segments.length === 0) this.#note(view);
    for (const data of segments)
      if (this.#segment.examine(frame.linkType, data, 0, data.length) === undefined) this.#note(this.#segment);
  }

  #note(view: PacketView): void {
    const { cursor, table } = this;
    const { timeNs, frames, direction } = cursor;
    const row = table.add(view, timeNs, frames.count, direction);
    if (row < 0) {
      this.unreadable += 1;
      return;
    }
    if (this.#isCopy(row, direction)) return;
    if (timeNs < this.#lastNs) this.#isSorted = false;
    this.#lastNs = timeNs;
    if (view.icrc === IcrcVerdict.WRONG) this.wrong += 1;
    const meaning = this.meanings.next(view, timeNs, () => readPacket(view));
    if (meaning !== undefined) this.meaningOf.set(row, meaning);
    const { comment } = frames;
    if (comment?.startsWith(REFUSED)) this.commentOf.set(row, comment);
  }

  #isCopy(row: number, direction: Direction): boolean {
    const { interfaceId, frames } = this.cursor;
    // This header names no interface: only what comes at once is a copy.
    if (frames.frame.linkType === LinkType.LINUX_SLL && this.#recent.isCopyOfLast(row)) {
      this.copies += 1;
      this.table.dropLast();
      return true;
    }
    this.#interfaces.add(interfaceId);
    if (this.#interfaces.size > 1) {
      const original = this.#recent.originalOf(row, interfaceId);
      if (original >= 0) {
        this.copies += 1;
        // A packet that comes in on one interface and leaves by another is neither sent nor received here.
        if (this.table.direction(original) !== direction) this.table.setDirection(original, Direction.UNKNOWN);
        this.table.dropLast();
        return true;
      }
    }
    this.#recent.note(row, interfaceId);
    return false;
  }
}
