/** Packets put together to requests. */
import { getU32, OpcodeBit, opcodeBits, PacketBit, rethOffset } from '../../../device/wire/index.js';
import type { Sightings } from '../captures/sightings.js';
import { lowerBound } from '../numbers.js';
import { AnswerKind, type Answers } from './answers.js';
import type { Packets } from './packets.js';

/** A request: its packets, and how much of the PSN space it takes. Made when somebody asks for it. */
export interface Request {
  readonly index: number;
  /** Its packets: from `begin`, and before `end`. */
  readonly begin: number;
  readonly end: number;
  /** The row of its first packet. */
  readonly row: number;
  /** Places of its first and its last PSN; of a READ, that of its last answer. */
  readonly first: number;
  readonly last: number;
  /** Bytes of its data; undefined where the capture lacks the header that says so. */
  readonly lengthBytes: number | undefined;
}

const LEAST_MTU = 256;
const ATOMIC_BYTES = 8;
/** A length that the capture does not show. */
const UNKNOWN_LENGTH = -1;
const FIRST_CAPACITY = 1024;

/** Reads RETHs. */
class Reth {
  constructor(private readonly sightings: Sightings) {}

  /** A word of the RETH, unsigned. */
  word(row: number, n: number): number {
    const { table } = this.sightings;
    return getU32(table.headers(row), table.headerAt(row) + rethOffset[table.opcode(row)] + 4 * n) >>> 0;
  }

  isThere(row: number): boolean {
    const { table } = this.sightings;
    return rethOffset[table.opcode(row)] !== 0 && (table.bits(row) & PacketBit.HEADERS_CUT) === 0;
  }

  va(row: number): bigint {
    return (BigInt(this.word(row, 0)) << 32n) | BigInt(this.word(row, 1));
  }

  rkey(row: number): number {
    return this.word(row, 2);
  }

  length(row: number): number {
    return this.word(row, 3);
  }
}

/** What of the answers tells how READs were cut. */
class Pieces {
  readonly #mtu: number;
  /** Of first responses. */
  readonly #bytes = new Map<number, number>();
  readonly #ends: Float64Array;

  constructor(sightings: Sightings, packets: Packets, answers: Answers) {
    const { table } = sightings;
    let mtu = LEAST_MTU;
    for (const row of packets.rows)
      if ((opcodeBits[table.opcode(row)] & (OpcodeBit.FIRST | OpcodeBit.MIDDLE)) !== 0)
        mtu = Math.max(mtu, table.payloadBytes(row));
    const ends: number[] = [];
    for (let i = 0; i < answers.length; i += 1) {
      if (answers.kind(i) !== AnswerKind.DATA) continue;
      const row = answers.rows[i];
      mtu = Math.max(mtu, table.payloadBytes(row));
      if (answers.ends(i)) ends.push(answers.places[i]);
      else if ((opcodeBits[table.opcode(row)] & OpcodeBit.FIRST) !== 0)
        this.#bytes.set(answers.places[i], table.payloadBytes(row));
    }
    this.#mtu = mtu;
    this.#ends = Float64Array.from(ends).sort();
  }

  /** Bytes of each answer to the READ that begins at a place. */
  bytesAt(place: number): number {
    return this.#bytes.get(place) ?? this.#mtu;
  }

  /** The place where a READ ends for certain: its first answer shows how it is cut, or it has one only. */
  certainEnd(first: number, lengthBytes: number | undefined): number {
    const bytes = this.#bytes.get(first);
    if (bytes === undefined || bytes === 0 || lengthBytes === undefined) return first;
    return first + Math.max(1, Math.ceil(lengthBytes / bytes)) - 1;
  }

  /** The place where a READ ends, as its last answer tells, or as long as it must be. */
  end(first: number, lengthBytes: number | undefined, before: number): number {
    const found = this.#ends.at(lowerBound(this.#ends, first));
    if (found !== undefined && found >= first && found < before) return Math.min(found, before - 1);
    const pieces = lengthBytes === undefined ? 1 : Math.max(1, Math.ceil(lengthBytes / this.bytesAt(first)));
    return Math.min(first + pieces - 1, before - 1);
  }
}

/** The requests of a half, in the order of their places, and of their first sightings where places are the same. */
export class Requests {
  #begin = new Uint32Array(FIRST_CAPACITY);
  #last = new Int32Array(FIRST_CAPACITY);
  #lengths = new Float64Array(FIRST_CAPACITY);
  #size = 0;
  /** A request whose PSN another READ's responses have, and that READ; undefined if PSNs are what they should be. */
  overlap: { readonly read: number; readonly by: number } | undefined;
  /** By packet: whether it asks for a part of what an earlier packet of a READ asked for, and so is a repeat each time. */
  readonly #again = new Set<number>();
  readonly #reth: Reth;

  /** Puts packets together. What is missing in between does not matter: a capture may begin anywhere. */
  constructor(
    readonly sightings: Sightings,
    readonly packets: Packets,
    answers: Answers,
  ) {
    this.#reth = new Reth(sightings);
    const pieces = new Pieces(sightings, packets, answers);
    for (let packet = 0; packet < packets.length; packet += 1) this.#take(packet, pieces);
    this.#findEnds(pieces);
  }

  get length(): number {
    return this.#size;
  }

  at(index: number): Request {
    const begin = this.#begin[index];
    const length = this.#lengths[index];
    return {
      index,
      begin,
      end: this.#endOf(index),
      row: this.packets.rows[begin],
      first: this.packets.places[begin],
      last: this.#last[index],
      lengthBytes: length === UNKNOWN_LENGTH ? undefined : length,
    };
  }

  /** Its first packet. */
  beginOf(index: number): number {
    return this.#begin[index];
  }

  first(index: number): number {
    return this.packets.places[this.#begin[index]];
  }

  last(index: number): number {
    return this.#last[index];
  }

  /** The number of the request that a packet is of. */
  indexOfPacket(packet: number): number {
    return lowerBound(this.#begin.subarray(0, this.#size), packet + 1) - 1;
  }

  *[Symbol.iterator](): Generator<Request, void, undefined> {
    for (let i = 0; i < this.#size; i += 1) yield this.at(i);
  }

  find(is: (request: Request) => boolean): Request | undefined {
    for (const request of this) if (is(request)) return request;
    return undefined;
  }

  /** The request that a place is of. */
  atPlace(place: number): Request | undefined {
    let [from, to] = [0, this.#size];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.#last[middle] < place) from = middle + 1;
      else to = middle;
    }
    return from < this.#size && this.first(from) <= place ? this.at(from) : undefined;
  }

  isAgain(packet: number): boolean {
    return this.#again.size > 0 && this.#again.has(packet);
  }

  /** Whether a request has packets of that kind. */
  hasAgain({ begin, end }: Request): boolean {
    if (this.#again.size === 0) return false;
    for (let packet = begin; packet < end; packet += 1) if (this.#again.has(packet)) return true;
    return false;
  }

  /** The bits of a request's first opcode. */
  bits({ row }: Request): number {
    return opcodeBits[this.sightings.table.opcode(row)];
  }

  /** The greatest of something of a request's packets. */
  greatestOf({ begin, end }: Request, of: (packet: number) => number): number {
    let most = -Infinity;
    for (let packet = begin; packet < end; packet += 1) most = Math.max(most, of(packet));
    return most;
  }

  #endOf(index: number): number {
    return index + 1 < this.#size ? this.#begin[index + 1] : this.packets.length;
  }

  #bitsOf(packet: number): number {
    return opcodeBits[this.sightings.table.opcode(this.packets.rows[packet])];
  }

  #take(packet: number, pieces: Pieces): void {
    const { packets, sightings } = this;
    const { table } = sightings;
    const row = packets.rows[packet];
    const place = packets.places[packet];
    const bits = this.#bitsOf(packet);
    const open = this.#size - 1;
    if (open >= 0 && this.#continues(packet, bits)) {
      this.#last[open] = place;
      const known = this.#lengths[open];
      if (!this.#reth.isThere(packets.rows[this.#begin[open]]) && known !== UNKNOWN_LENGTH)
        this.#lengths[open] = known + table.payloadBytes(row);
    } else if (open >= 0 && this.#asksForRest(packet, bits, open, pieces)) this.#again.add(packet);
    else this.#add(packet, place, this.#lengthOf(row, bits));
  }

  #add(packet: number, place: number, lengthBytes: number): void {
    if (this.#size === this.#begin.length) {
      const grown = 2 * this.#size;
      const [begin, last, lengths] = [new Uint32Array(grown), new Int32Array(grown), new Float64Array(grown)];
      begin.set(this.#begin);
      last.set(this.#last);
      lengths.set(this.#lengths);
      [this.#begin, this.#last, this.#lengths] = [begin, last, lengths];
    }
    this.#begin[this.#size] = packet;
    this.#last[this.#size] = place;
    this.#lengths[this.#size] = lengthBytes;
    this.#size += 1;
  }

  #lengthOf(row: number, bits: number): number {
    const { table } = this.sightings;
    if ((bits & OpcodeBit.ATOMIC) !== 0) return ATOMIC_BYTES;
    if ((bits & OpcodeBit.RETH) === 0) return table.payloadBytes(row);
    if (this.#reth.isThere(row)) return this.#reth.length(row);
    // Cut off. A message of one packet is as long as its payload, but that of a READ shows nowhere.
    return (bits & OpcodeBit.WRITE) === 0 ? UNKNOWN_LENGTH : table.payloadBytes(row);
  }

  /** Whether a packet continues the message of the one before: that is open, and of the same kind. */
  #continues(packet: number, bits: number): boolean {
    if ((bits & (OpcodeBit.MIDDLE | OpcodeBit.LAST)) === 0) return false;
    const before = this.#bitsOf(packet - 1);
    const kind = OpcodeBit.SEND | OpcodeBit.WRITE;
    return (
      (before & (OpcodeBit.FIRST | OpcodeBit.MIDDLE)) !== 0 &&
      (before & bits & kind) !== 0 &&
      this.packets.places[packet] > this.packets.places[packet - 1]
    );
  }

  /** Whether a READ asks for a part of what another one has asked for, as a requester that misses an answer does. */
  #asksForRest(packet: number, bits: number, open: number, pieces: Pieces): boolean {
    if ((bits & OpcodeBit.READ_REQUEST) === 0) return false;
    const row = this.packets.rows[packet];
    const whole = this.packets.rows[this.#begin[open]];
    const reth = this.#reth;
    const wholeBits = opcodeBits[this.sightings.table.opcode(whole)];
    if ((wholeBits & OpcodeBit.READ_REQUEST) === 0 || !reth.isThere(row) || !reth.isThere(whole)) return false;
    if (reth.rkey(row) !== reth.rkey(whole)) return false;
    const offset = reth.va(row) - reth.va(whole);
    const first = this.packets.places[this.#begin[open]];
    const place = this.packets.places[packet];
    return (
      place > first &&
      offset + BigInt(reth.length(row)) <= BigInt(reth.length(whole)) &&
      offset === BigInt((place - first) * pieces.bytesAt(first))
    );
  }

  #findEnds(pieces: Pieces): void {
    for (let i = 0; i < this.#size; i += 1) {
      if ((this.#bitsOf(this.#begin[i]) & OpcodeBit.READ_REQUEST) === 0) continue;
      const first = this.first(i);
      const next = i + 1 < this.#size ? this.first(i + 1) : Infinity;
      const length = this.#lengths[i] === UNKNOWN_LENGTH ? undefined : this.#lengths[i];
      const certain = pieces.certainEnd(first, length);
      if (next > first && next <= certain) {
        this.overlap ??= { read: i, by: i + 1 };
        this.#last[i] = certain;
      } else this.#last[i] = Math.max(first, pieces.end(first, length, next));
    }
  }
}

/** When something was asked for the first time, for the last time: a row. */
export function newestFirst(requests: Requests): number {
  let newest = -1;
  for (let i = 0; i < requests.length; i += 1)
    newest = Math.max(newest, requests.packets.sent.first(requests.beginOf(i)));
  return newest;
}
