/**
 * Structs on the wire and in the kernel's ABI, declared once for both directions: each field names its type, range and place, and the
 * type of the values follows.
 *
 * A field type such as `u32` lies behind the field before it; `u32(8)` lies at byte 8. Types named `be…` are big-endian, the others
 * little-endian. The headers of every packet have functions of their own, which make no object.
 */
import type { Gid } from '../ibta/index.js';
import { viewOf } from './bytes.js';

/** How one value lies in bytes. */
export interface Field<T> {
  readonly bytes: number;
  /** Offset in the struct; undefined: directly behind the field before. */
  readonly at?: number | undefined;
  /** Never throws within the view; the value shares no memory with it. */
  read(view: DataView, at: number): T;
  /** A value without room is cut. */
  write(view: DataView, at: number, value: T): void;
  /** RangeError, with the field's name, for a value without room. */
  check?(value: T, name: string): void;
  /** What is wrong with a value from a peer: the rest of a sentence that begins with the field's name. */
  problem?(value: T): string | undefined;
}

/** A field with one right value. It is written by itself, and not among the values; `problem` is a whole sentence. */
export interface Constant<T> extends Field<T> {
  readonly constant: T;
}

/** A field behind the one before it and, called, at an offset. */
export type FieldType<T> = Field<T> & ((at: number) => Field<T>);

function fieldType<T>(field: Field<T>): FieldType<T> {
  return Object.assign((at: number): Field<T> => ({ ...field, at }), field);
}

function refuse(name: string, value: number | bigint, bits: number): never {
  throw new RangeError(`${name} is ${value}, which is not an unsigned number of ${bits} bits`);
}

function unsigned(bits: number): (value: number, name: string) => void {
  return (value, name) => {
    if (!Number.isInteger(value) || value < 0 || value >= 2 ** bits) refuse(name, value, bits);
  };
}

const WORD = 2 ** 32;

export const u8 = fieldType<number>({
  bytes: 1,
  read: (view, at) => view.getUint8(at),
  write: (view, at, value) => view.setUint8(at, value),
  check: unsigned(8),
});

export const i8 = fieldType<number>({
  bytes: 1,
  read: (view, at) => view.getInt8(at),
  write: (view, at, value) => view.setInt8(at, value),
});

export const i32 = fieldType<number>({
  bytes: 4,
  read: (view, at) => view.getInt32(at, true),
  write: (view, at, value) => view.setInt32(at, value, true),
});

const inBothOrders = <T>(make: (isLittle: boolean) => Field<T>): readonly [FieldType<T>, FieldType<T>] => [
  fieldType(make(true)),
  fieldType(make(false)),
];

export const [u16, be16] = inBothOrders<number>((isLittle) => ({
  bytes: 2,
  read: (view, at) => view.getUint16(at, isLittle),
  write: (view, at, value) => view.setUint16(at, value, isLittle),
  check: unsigned(16),
}));

export const [u24, be24] = inBothOrders<number>((isLittle) => {
  const [low, high] = isLittle ? [0, 2] : [2, 0];
  return {
    bytes: 3,
    read: (view, at) => view.getUint8(at + low) | (view.getUint8(at + 1) << 8) | (view.getUint8(at + high) << 16),
    write: (view, at, value) => {
      view.setUint8(at + low, value);
      view.setUint8(at + 1, value >>> 8);
      view.setUint8(at + high, value >>> 16);
    },
    check: unsigned(24),
  };
});

export const [u32, be32] = inBothOrders<number>((isLittle) => ({
  bytes: 4,
  read: (view, at) => view.getUint32(at, isLittle),
  write: (view, at, value) => view.setUint32(at, value, isLittle),
  check: unsigned(32),
}));

/** 64 bits for lengths, offsets and counts, which a number holds. */
export const [u53, be53] = inBothOrders<number>((isLittle) => {
  const [low, high] = isLittle ? [0, 4] : [4, 0];
  return {
    bytes: 8,
    read: (view, at) => view.getUint32(at + high, isLittle) * WORD + view.getUint32(at + low, isLittle),
    write: (view, at, value) => {
      view.setUint32(at + low, value % WORD, isLittle);
      view.setUint32(at + high, Math.floor(value / WORD), isLittle);
    },
    problem: (value) => (Number.isSafeInteger(value) ? undefined : 'is more than 2^53 - 1'),
  };
});

/** 64 bits of which all may be used: tags, addresses, GUIDs. */
export const [u64, be64] = inBothOrders<bigint>((isLittle) => ({
  bytes: 8,
  read: (view, at) => view.getBigUint64(at, isLittle),
  write: (view, at, value) => view.setBigUint64(at, value, isLittle),
  check: (value, name) => {
    if (BigInt.asUintN(64, value) !== value) refuse(name, value, 64);
  },
}));

/** Bits `high` to `low` of the number at `at`, as the documents write them; the others stay. */
export function bits(at: number, high: number, low: number, whole: Field<number> = u8): Field<number> {
  const limit = 2 ** (high - low + 1);
  const mask = ((limit - 1) << low) >>> 0;
  return {
    bytes: whole.bytes,
    at,
    read: (view, place) => (whole.read(view, place) >>> low) % limit,
    write: (view, place, value) =>
      whole.write(view, place, ((whole.read(view, place) & ~mask) | ((value << low) & mask)) >>> 0),
    check: unsigned(high - low + 1),
  };
}

/** One bit of the byte at `at`. */
export function flag(at: number, bit: number): Field<boolean> {
  const field = bits(at, bit, bit);
  return {
    bytes: 1,
    at,
    read: (view, place) => field.read(view, place) === 1,
    write: (view, place, value) => field.write(view, place, Number(value)),
  };
}

/** `bytes` bytes. Fewer are written with zeros after them. */
export function octets(at: number, bytes: number): Field<Uint8Array> {
  return {
    bytes,
    at,
    read: (view, place) => new Uint8Array(view.buffer, view.byteOffset + place, bytes).slice(),
    write: (view, place, value) =>
      new Uint8Array(view.buffer, view.byteOffset + place, bytes).fill(0).set(value.subarray(0, bytes)),
    check: (value, name) => {
      if (value.length > bytes) throw new RangeError(`${name} has ${value.length} bytes, and room for ${bytes}`);
    },
  };
}

export function gid(at: number): Field<Gid> {
  return {
    ...octets(at, 16),
    check: (value, name) => {
      if (value.length !== 16) throw new RangeError(`${name} has ${value.length} bytes, not those of a GID`);
    },
  };
}

/** A field of which not every value makes sense. */
export function only<T, Good extends T>(
  field: Field<T>,
  isGood: (value: T) => value is Good,
  problem: string,
): Field<Good>;
export function only<T>(field: Field<T>, isGood: (value: T) => boolean, problem: string): Field<T>;
export function only<T>(field: Field<T>, isGood: (value: T) => boolean, problem: string): Field<T> {
  return {
    ...field,
    problem: (value) => field.problem?.(value) ?? (isGood(value) ? undefined : `is ${String(value)}, ${problem}`),
  };
}

export function range(field: Field<number>, least: number, most: number): Field<number> {
  return only(field, (value) => value >= least && value <= most, `which is not ${least} to ${most}`);
}

export function oneOf<T extends number>(
  field: Field<number>,
  table: Readonly<Record<string, T>>,
  problem = 'which does not exist',
): Field<T> {
  const known: ReadonlySet<number> = new Set(Object.values(table));
  return only(field, (value): value is T => known.has(value), problem);
}

/** @param problem a sentence about another value */
export function constant<T>(field: Field<T>, value: T, problem: (other: T) => string | undefined): Constant<T> {
  return { ...field, constant: value, problem: (other) => (other === value ? undefined : problem(other)) };
}

export function reserved(field: Field<number>): Constant<number> {
  return constant(field, 0, (value) => `reserved is ${value}, and must be 0`);
}

// Fields differ in type.
type Fields = Readonly<Record<string, Field<unknown>>>;
type Values<F extends Fields> = {
  readonly [Name in keyof F as F[Name] extends Constant<unknown> ? never : Name]: F[Name] extends Field<infer T>
    ? T
    : never;
};

/** Values of which some may be missing: those are written as 0. */
export type Writable<V> = { readonly [Name in keyof V]?: V[Name] | undefined };

export type ValuesOf<S> = S extends Struct<infer V> ? V : never;

export interface Struct<V> extends Field<V> {
  /** Writes the values from `at` on. @returns where they end */
  write(view: DataView, at: number, values: V): number;
  check(values: V, name: string): void;
  /** The values from `at` on, or a sentence about the first that is wrong. */
  parse(view: DataView, at: number): V | string;
  /** The same of bytes that begin with the struct. */
  readonly decode: (bytes: Uint8Array) => V | string;
  readonly encode: (values: V) => Uint8Array;
  /** The values, whatever they are. Bytes that are missing at the end are 0: programs may be older than the struct. */
  readonly readPadded: (bytes: Uint8Array) => V;
  readonly encodePadded: (values: Writable<V>) => Uint8Array;
}

interface Member extends Pick<Field<unknown>, 'read' | 'write'> {
  readonly check: Field<unknown>['check'] | undefined;
  readonly problem: Field<unknown>['problem'] | undefined;
  readonly inner: Struct<unknown> | undefined;
  readonly name: string;
  readonly at: number;
  readonly fixed: unknown;
}

function isStruct(field: Field<unknown>): field is Struct<unknown> {
  return 'parse' in field;
}

/** @param bytes of the whole; default: up to the end of the last field */
export function struct<F extends Fields>(fields: F, bytes = 0): Struct<Values<F>> {
  let end = 0;
  let whole = bytes;
  const members: Member[] = Object.entries(fields).map(([name, field]) => {
    const at = field.at ?? end;
    end = at + field.bytes;
    whole = Math.max(whole, end);
    // No field uses `this`. One shape of all members, and no lookup of absent properties, keep the loops below quick.
    // oxlint-disable-next-line typescript/unbound-method
    const { read, write, check, problem } = field;
    const fixed = 'constant' in field ? field.constant : undefined;
    const inner = isStruct(field) ? field : undefined;
    return { name, at, fixed, inner, read, write, check, problem };
  });
  // A copy of an object that has its properties already is quicker than one to which they are added.
  const blank: Readonly<Record<string, unknown>> = Object.fromEntries(
    members.filter(({ fixed }) => fixed === undefined).map(({ name }) => [name, 0]),
  );
  const write = (view: DataView, from: number, values: Readonly<Record<string, unknown>>): number => {
    for (let i = 0; i < members.length; i += 1) {
      const member = members[i];
      const value = member.fixed ?? values[member.name];
      if (value !== undefined) member.write(view, from + member.at, value);
    }
    return from + whole;
  };
  const read = (view: DataView, from: number): Values<F> => {
    const values: Record<string, unknown> = { ...blank };
    for (const member of members)
      if (member.fixed === undefined) values[member.name] = member.read(view, from + member.at);
    // Each name has what its field reads.
    return values as Values<F>;
  };
  const parse = (view: DataView, from: number): Values<F> | string => {
    if (view.byteLength - from < whole) return `it has ${view.byteLength - from} bytes, and ${whole} are needed`;
    const values: Record<string, unknown> = { ...blank };
    for (let i = 0; i < members.length; i += 1) {
      const member = members[i];
      const inner = member.inner?.parse(view, from + member.at);
      if (typeof inner === 'string') return `${member.name}: ${inner}`;
      const value = inner ?? member.read(view, from + member.at);
      const problem = member.problem?.(value);
      if (problem !== undefined) return member.fixed === undefined ? `${member.name} ${problem}` : problem;
      if (member.fixed === undefined) values[member.name] = value;
    }
    // As in `read`.
    return values as Values<F>;
  };
  const encode = (values: Readonly<Record<string, unknown>>): Uint8Array => {
    const made = new Uint8Array(whole);
    write(viewOf(made), 0, values);
    return made;
  };
  return {
    bytes: whole,
    read,
    write,
    check: (values: Readonly<Record<string, unknown>>, path) => {
      for (const member of members) {
        const { name } = member;
        member.check?.(values[name], path === '' ? name : `${path}.${name}`);
      }
    },
    parse,
    decode: (given) => parse(viewOf(given), 0),
    encode,
    encodePadded: encode,
    readPadded: (given) => {
      const padded = new Uint8Array(whole);
      padded.set(given.subarray(0, whole));
      return read(viewOf(padded), 0);
    },
  };
}

export function nested<V>(at: number, inner: Struct<V>): Field<V> {
  return { ...inner, at };
}

/**
 * How one end of a connection introduces itself to the other in private data: a magic, a version, and its limits. Zeros may follow.
 *
 * @param magic four letters
 * @param versionType of the version, behind the magic
 */
export function handshake<F extends Fields>(
  magic: string,
  version: number,
  fields: F,
  { bytes = 0, versionType = u8, anyVersion = false, protocol = 'this protocol' }: HandshakeOptions = {},
): Struct<Values<Greeting & F>> {
  const stranger = `the peer does not speak ${protocol}`;
  const letters = be32.read(viewOf(Uint8Array.from(magic, (letter) => letter.charCodeAt(0))), 0);
  const whole = struct(
    {
      magic: constant(be32, letters, () => stranger),
      version: constant(versionType, version, (other) =>
        anyVersion ? undefined : `the peer speaks version ${other} of the protocol, this end version ${version}`,
      ),
      ...fields,
    },
    bytes,
  );
  return { ...whole, decode: (given) => (given.length < whole.bytes ? stranger : whole.decode(given)) };
}

/** The fields of every handshake. */
interface Greeting {
  readonly magic: Constant<number>;
  readonly version: Constant<number>;
}

/** What {@link handshake} takes. */
export interface HandshakeOptions {
  readonly bytes?: number;
  readonly versionType?: Field<number>;
  /** Of a refusal, which ends of other versions read too. */
  readonly anyVersion?: boolean;
  readonly protocol?: string;
}
