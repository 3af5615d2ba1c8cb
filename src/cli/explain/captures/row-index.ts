/** Finding the packets of one file in another. */
import { MAD_HEADER_BYTES, PacketBit, type PacketTable } from '../../../device/wire/index.js';

/** Room for each row in a hash table. */
const SLOTS_PER_ROW = 2;

/**
 * Packets by what is in their headers. Not by their ICRC, which covers the IP identification: a system that cuts long datagrams
 * into packets sets it after the sender has seen the packet for the last time.
 */
export class RowIndex {
  /** Row + 1; 0 = free. */
  readonly #slots: Uint32Array;

  /** @param rows how many rows may be added */
  constructor(
    private readonly table: PacketTable,
    rows: number,
  ) {
    let size = 16;
    while (size < rows * SLOTS_PER_ROW) size *= 2;
    this.#slots = new Uint32Array(size);
  }

  /** The first row that was added and is the same packet; -1 if there is none. */
  find(row: number): number {
    return this.#slots[this.#slotOf(row)] - 1;
  }

  /** Adds a row, unless the same packet is there. @returns the row that is there */
  add(row: number): number {
    const slot = this.#slotOf(row);
    if (this.#slots[slot] === 0) this.#slots[slot] = row + 1;
    return this.#slots[slot] - 1;
  }

  /** Adds a row. @returns a number that the same packet always gets, less than {@link size} */
  numberOf(row: number): number {
    const slot = this.#slotOf(row);
    if (this.#slots[slot] === 0) this.#slots[slot] = row + 1;
    return slot;
  }

  /** More than the numbers of rows. */
  get size(): number {
    return this.#slots.length;
  }

  #slotOf(row: number): number {
    const { table } = this;
    const mask = this.#slots.length - 1;
    let hash = Math.imul(table.psn(row) ^ (table.opcode(row) << 24), 0x9e3779b1);
    hash = Math.imul(hash ^ table.flow(row) ^ (hash >>> 15), 0x85ebca6b);
    let slot = (hash ^ (hash >>> 16)) & mask;
    for (;;) {
      const found = this.#slots[slot];
      if (found === 0 || this.#isSame(found - 1, row)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #isSame(a: number, b: number): boolean {
    const { table } = this;
    return (
      table.psn(a) === table.psn(b) &&
      table.flow(a) === table.flow(b) &&
      table.opcode(a) === table.opcode(b) &&
      table.payloadBytes(a) === table.payloadBytes(b) &&
      ((table.bits(a) ^ table.bits(b)) & PacketBit.ACK_REQUEST) === 0 &&
      table.aeth(a) === table.aeth(b) &&
      isSameMad(table, a, b)
    );
  }
}

/** Whether management datagrams, if they are some, have the same header: it has a transaction ID. */
function isSameMad(table: PacketTable, a: number, b: number): boolean {
  if ((table.bits(a) & table.bits(b) & PacketBit.MAD) === 0) return true;
  const [one, other] = [table.mad(a), table.mad(b)];
  for (let i = 0; i < MAD_HEADER_BYTES; i += 1) if (one[i] !== other[i]) return false;
  return true;
}

/** Whether a packet may be one that was sent before: the same PSN with other headers is another request. */
export function isSamePacket(table: PacketTable, a: number, b: number): boolean {
  return (
    table.opcode(a) === table.opcode(b) && table.payloadBytes(a) === table.payloadBytes(b) && table.hasSameHeaders(a, b)
  );
}
