/**
 * Fixed layouts, described once and used in both directions: a table says for each member of an object where it lies,
 * and the compiler holds the table to the object's type.
 *
 * For what is read and written a few times a connection; the headers of every packet have functions of their own.
 */
import type { Gid } from '../ibta/index.js';

const GID_BYTES = 16;

/** How one value lies in bytes. `base` is where the layout begins. */
export interface Field<Value> {
  /** Never throws; what it returns shares no memory with `bytes`. */
  read(bytes: Uint8Array, base: number): Value;
  /** RangeError, with the field's name, for a value that has no room. */
  write(bytes: Uint8Array, base: number, value: Value, name: string): void;
}

/** Where each member of an object lies. */
export type Layout<Members> = { readonly [Name in keyof Members]: Field<Members[Name]> };

function refuse(name: string, value: number | bigint, bits: number): never {
  throw new RangeError(`${name} is ${value}, which is not an unsigned number of ${bits} bits`);
}

/** Bits `high` to `low` of the big-endian number whose bytes lie at `places`, the highest first. */
function number(places: readonly number[], high: number, low: number): Field<number> {
  const bits = high - low + 1;
  const limit = 2 ** bits;
  const readAll = (bytes: Uint8Array, base: number): number =>
    places.reduce((value, place) => ((value << 8) | bytes[base + place]) >>> 0, 0);
  return {
    read: (bytes, base) => (readAll(bytes, base) >>> low) % limit,
    write(bytes, base, value, name) {
      if (!Number.isInteger(value) || value < 0 || value >= limit) refuse(name, value, bits);
      const others = readAll(bytes, base) & ~((limit - 1) << low);
      const whole = others | (value << low);
      places.forEach((place, i) => {
        bytes[base + place] = whole >>> (8 * (places.length - 1 - i));
      });
    },
  };
}

/** Bits `high` to `low` of the byte at `place`, as the documents write them: 7 is the first on the wire. */
export const bits = (place: number, high: number, low: number): Field<number> => number([place], high, low);

/** Bits `high` to `low` of the 32-bit word at `place`. */
export const wordBits = (place: number, high: number, low: number): Field<number> =>
  number([place, place + 1, place + 2, place + 3], high, low);

/** An unsigned number of 8 bits. */
export const u8 = (place: number): Field<number> => number([place], 7, 0);

/** An unsigned number of 16 bits. */
export const u16 = (place: number): Field<number> => number([place, place + 1], 15, 0);

/** An unsigned number of 24 bits, whose bytes need not lie together. */
export const u24 = (high: number, middle = high + 1, low = middle + 1): Field<number> =>
  number([high, middle, low], 23, 0);

/** An unsigned number of 32 bits. */
export const u32 = (place: number): Field<number> => wordBits(place, 31, 0);

/** An unsigned number of 64 bits. */
export function u64(place: number): Field<bigint> {
  const high = u32(place);
  const low = u32(place + 4);
  return {
    read: (bytes, base) => (BigInt(high.read(bytes, base)) << 32n) | BigInt(low.read(bytes, base)),
    write(bytes, base, value, name) {
      if (BigInt.asUintN(64, value) !== value) refuse(name, value, 64);
      high.write(bytes, base, Number(value >> 32n), name);
      low.write(bytes, base, Number(value & 0xffffffffn), name);
    },
  };
}

/** One bit of the byte at `place`. */
export function flag(place: number, bit: number): Field<boolean> {
  const field = bits(place, bit, bit);
  return {
    read: (bytes, base) => field.read(bytes, base) === 1,
    write: (bytes, base, value, name) => field.write(bytes, base, Number(value), name),
  };
}

/** A 16-bit number that is the same in every object of this layout. */
export function always<Value extends number>(place: number, value: Value): Field<Value> {
  const field = u16(place);
  return { read: () => value, write: (bytes, base, _value, name) => field.write(bytes, base, value, name) };
}

/** `length` bytes. Fewer are written with zeros after them. */
export function octets(place: number, length: number): Field<Uint8Array> {
  return {
    read(bytes, base) {
      // Not slice(): that of a Buffer shares its memory.
      const copy = new Uint8Array(length);
      copy.set(bytes.subarray(base + place, base + place + length));
      return copy;
    },
    write(bytes, base, value, name) {
      if (value.length > length) throw new RangeError(`${name} has ${value.length} bytes, and room for ${length}`);
      bytes.fill(0, base + place, base + place + length).set(value, base + place);
    },
  };
}

/** A GID, all of it. */
export function gid(place: number): Field<Gid> {
  const field = octets(place, GID_BYTES);
  return {
    read: (bytes, base) => field.read(bytes, base),
    write(bytes, base, value, name) {
      if (value.length !== GID_BYTES) throw new RangeError(`${name} has ${value.length} bytes, not those of a GID`);
      field.write(bytes, base, value, name);
    },
  };
}

/** An object within another, or on its own. */
export function record<Members extends object>(layout: Layout<Members>): Field<Members> {
  return {
    read(bytes, base) {
      const members: { -readonly [Name in keyof Members]?: Members[Name] } = {};
      for (const name in layout) members[name] = layout[name].read(bytes, base);
      // The layout's type has the names of all members, and those only.
      return members as Members;
    },
    write(bytes, base, members, path) {
      for (const name in layout) {
        layout[name].write(bytes, base, members[name], path === '' ? name : `${path}.${name}`);
      }
    },
  };
}
