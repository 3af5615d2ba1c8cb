/** The packets of a half's requests: each once, with all times that it was sent and that it arrived. */
import { Direction, type PacketTable } from '../../../device/wire/index.js';
import { psnDiff } from '../../../entry/index.js';
import type { Half } from '../captures/halves.js';
import { isSamePacket } from '../captures/row-index.js';
import type { Sightings } from '../captures/sightings.js';

/** Places for which an array costs no more than what it saves. */
const MAX_PLACES = 1 << 22;
const PLACES_PER_ROW = 8;

/**
 * Counts packets from a first one on. PSNs begin again after 2^24 packets; what is asked about is therefore counted from
 * what the same group of files showed last.
 */
export function placesOf(sightings: Sightings, basePsn: number, rows: Uint32Array): Int32Array {
  const { table } = sightings;
  const places = new Int32Array(rows.length);
  const last = new Map<number, { psn: number; place: number }>();
  let group = -1;
  let now = { psn: basePsn, place: 0 };
  for (let i = 0; i < rows.length; i += 1) {
    const of = sightings.group(rows[i]);
    if (of !== group) {
      group = of;
      now = last.get(group) ?? { psn: basePsn, place: 0 };
      last.set(group, now);
    }
    const psn = table.psn(rows[i]);
    now.place += psnDiff(psn, now.psn);
    now.psn = psn;
    places[i] = now.place;
  }
  return places;
}

/** First packets by place. */
class PlaceMap {
  readonly #least: number;
  readonly #array: Int32Array | undefined;
  readonly #map = new Map<number, number>();

  constructor(places: Int32Array) {
    let [least, most] = [Infinity, -Infinity];
    for (const place of places) {
      if (place < least) least = place;
      if (place > most) most = place;
    }
    this.#least = least;
    const size = most - least + 1;
    if (size <= Math.max(MAX_PLACES, PLACES_PER_ROW * places.length)) this.#array = new Int32Array(size).fill(-1);
  }

  get(place: number): number {
    return this.#array === undefined ? (this.#map.get(place) ?? -1) : this.#array[place - this.#least];
  }

  set(place: number, id: number): void {
    if (this.#array === undefined) this.#map.set(place, id);
    else this.#array[place - this.#least] = id;
  }
}

/** A list of sightings for each packet, linked through arrays. */
class Lists {
  readonly #next: Int32Array;
  readonly #head: Int32Array;
  readonly #tail: Int32Array;
  readonly #counts: Int32Array;

  constructor(
    private readonly rows: Uint32Array,
    packets: number,
  ) {
    this.#next = new Int32Array(rows.length).fill(-1);
    this.#head = new Int32Array(packets).fill(-1);
    this.#tail = new Int32Array(packets).fill(-1);
    this.#counts = new Int32Array(packets);
  }

  add(packet: number, i: number): void {
    if (this.#head[packet] < 0) this.#head[packet] = i;
    else this.#next[this.#tail[packet]] = i;
    this.#tail[packet] = i;
    this.#counts[packet] += 1;
  }

  count(packet: number): number {
    return this.#counts[packet];
  }

  /** The row of the first one, or -1. */
  first(packet: number): number {
    return this.#head[packet] < 0 ? -1 : this.rows[this.#head[packet]];
  }

  of(packet: number): number[] {
    const rows: number[] = [];
    for (let i = this.#head[packet]; i >= 0; i = this.#next[i]) rows.push(this.rows[i]);
    return rows;
  }
}

/** Packets, numbered in the order of their places; where several different ones have the same place, of their first sightings. */
export class Packets {
  /** Of a packet: its first sighting. */
  readonly rows: Uint32Array;
  /** Of a packet: counted from the half's first one. */
  readonly places: Int32Array;
  /** As the requester sent it, or where that was not captured, as seen elsewhere. */
  readonly sent: Lists;
  /** As it reached the responder, if that was captured. */
  readonly arrived: Lists;
  /** By row of the half's requests: its packet. */
  readonly numberOfRow: Int32Array;
  /** How many packets have the place of a different one. */
  conflicts = 0;
  /** The first of them. */
  firstConflict = -1;

  constructor(sightings: Sightings, half: Half, atRequester: boolean) {
    const { table } = sightings;
    const { requests } = half;
    const rowPlaces = placesOf(sightings, table.psn(requests[0]), requests);
    const idOf = new Int32Array(requests.length);
    const { rows, places, order } = this.#distinct(table, requests, rowPlaces, idOf);
    this.rows = Uint32Array.from(order, (id) => rows[id]);
    this.places = Int32Array.from(order, (id) => places[id]);
    const numberOf = new Int32Array(order.length);
    for (const [number, id] of order.entries()) numberOf[id] = number;
    this.sent = new Lists(requests, order.length);
    this.arrived = new Lists(requests, order.length);
    this.numberOfRow = idOf;
    for (let i = 0; i < requests.length; i += 1) {
      const isArrival = table.direction(requests[i]) === Direction.IN;
      const packet = numberOf[idOf[i]];
      idOf[i] = packet;
      if (isArrival) this.arrived.add(packet, i);
      // Without a capture of the requester, packets seen elsewhere are all that is known of what was sent.
      if (!atRequester || !isArrival) this.sent.add(packet, i);
    }
    for (let packet = 1; packet < this.length; packet += 1)
      if (this.places[packet] === this.places[packet - 1]) {
        this.conflicts += 1;
        if (this.firstConflict < 0) this.firstConflict = packet;
      }
  }

  get length(): number {
    return this.rows.length;
  }

  /** Gives each row a packet; and the order of packets by place. */
  #distinct(table: PacketTable, requests: Uint32Array, rowPlaces: Int32Array, idOf: Int32Array) {
    const first = new PlaceMap(rowPlaces);
    const rows = new Uint32Array(requests.length);
    const places = new Int32Array(requests.length);
    /** The next different packet of the same place. */
    const others = new Map<number, number>();
    let size = 0;
    const add = (row: number, place: number): number => {
      rows[size] = row;
      places[size] = place;
      size += 1;
      return size - 1;
    };
    for (let i = 0; i < requests.length; i += 1) {
      const row = requests[i];
      const place = rowPlaces[i];
      let id = first.get(place);
      if (id < 0) {
        id = add(row, place);
        first.set(place, id);
      } else
        while (!isSamePacket(table, rows[id], row)) {
          const other = others.get(id);
          if (other === undefined) {
            const added = add(row, place);
            others.set(id, added);
            id = added;
            break;
          }
          id = other;
        }
      idOf[i] = id;
    }
    const order = Uint32Array.from({ length: size }, (_, id) => id);
    if (order.some((id) => id > 0 && places[id - 1] >= places[id]))
      order.sort((a, b) => places[a] - places[b] || a - b);
    return { rows, places, order };
  }
}
