/** A field of a structure of the kernel's: where it lies, and how it is read and written. */
export interface Field<T> {
  readonly at: number;
  readonly bytes: number;
  read(view: DataView, at: number): T;
  write(view: DataView, at: number, value: T): void;
}

export function u8(at: number): Field<number> {
  return { at, bytes: 1, read: (v, i) => v.getUint8(i), write: (v, i, value) => v.setUint8(i, value) };
}

export function u16(at: number): Field<number> {
  return { at, bytes: 2, read: (v, i) => v.getUint16(i, true), write: (v, i, value) => v.setUint16(i, value, true) };
}

export function u32(at: number): Field<number> {
  return { at, bytes: 4, read: (v, i) => v.getUint32(i, true), write: (v, i, value) => v.setUint32(i, value, true) };
}

export function i32(at: number): Field<number> {
  return { at, bytes: 4, read: (v, i) => v.getInt32(i, true), write: (v, i, value) => v.setInt32(i, value, true) };
}

export function u64(at: number): Field<bigint> {
  return {
    at,
    bytes: 8,
    read: (v, i) => v.getBigUint64(i, true),
    write: (v, i, value) => v.setBigUint64(i, value, true),
  };
}

/** As on the wire: ports, P_Keys. */
export function be16(at: number): Field<number> {
  return { at, bytes: 2, read: (v, i) => v.getUint16(i), write: (v, i, value) => v.setUint16(i, value) };
}

/** As on the wire: GUIDs. */
export function be64(at: number): Field<bigint> {
  return { at, bytes: 8, read: (v, i) => v.getBigUint64(i), write: (v, i, value) => v.setBigUint64(i, value) };
}

/** So many bytes as they are. */
export function raw(at: number, bytes: number): Field<Uint8Array> {
  return {
    at,
    bytes,
    read: (v, i) => new Uint8Array(v.buffer, v.byteOffset + i, bytes).slice(),
    write: (v, i, value) => new Uint8Array(v.buffer, v.byteOffset + i, bytes).set(value.subarray(0, bytes)),
  };
}

/** A structure inside a structure. */
export function nested<V>(at: number, struct: Struct<V>): Field<V> {
  return {
    at,
    bytes: struct.bytes,
    read: (v, i) => struct.read(new Uint8Array(v.buffer, v.byteOffset + i, struct.bytes)),
    write: (v, i, value) => new Uint8Array(v.buffer, v.byteOffset + i, struct.bytes).set(struct.write(value)),
  };
}

// Each field has a type of its own.
type Fields = Readonly<Record<string, Field<unknown>>>;
type Values<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

/** What a structure holds. */
export type ValuesOf<S> = S extends Struct<infer V> ? V : never;

/** The layout of a structure, by the names that the API has for what it holds. */
export interface Struct<V> {
  readonly bytes: number;
  /** What is missing at the end counts as 0, as in the kernel: programs may be older than the structure. */
  read(bytes: Uint8Array): V;
  /** What is not given is 0. */
  write(values: Writable<V>): Uint8Array;
}

/** What is written may be less than what is there. */
export type Writable<V> = { readonly [K in keyof V]?: V[K] | undefined };

/** @param bytes of the whole; default: up to the end of the last field */
export function struct<F extends Fields>(fields: F, bytes?: number): Struct<Values<F>> {
  const names = Object.keys(fields) as (keyof F & string)[];
  const length = bytes ?? Math.max(0, ...names.map((name) => fields[name].at + fields[name].bytes));
  return {
    bytes: length,
    read: (given) => {
      const whole = new Uint8Array(length);
      whole.set(given.subarray(0, length));
      const view = new DataView(whole.buffer);
      const values = Object.fromEntries(names.map((name) => [name, fields[name].read(view, fields[name].at)]));
      // Each name has what its field reads.
      return values as Values<F>;
    },
    write: (values) => {
      const view = new DataView(new ArrayBuffer(length));
      for (const name of names) {
        const value = values[name];
        if (value !== undefined) fields[name].write(view, fields[name].at, value);
      }
      return new Uint8Array(view.buffer);
    },
  };
}
