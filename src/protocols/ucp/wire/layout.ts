// Fields of messages in the order of the wire, as data. UCX packs them without gaps and sends them as its hosts have them: little-endian.

/** A number on the wire, and in memory a `number` or, where that would lose bits, a `bigint`. */
export interface FieldType<T> {
  readonly bytes: number;
  read(view: DataView, at: number): T;
  write(view: DataView, at: number, value: T): void;
  /** What is wrong with a value that was read; undefined when it is good. */
  problem?(value: T): string | undefined;
}

const WORD = 2 ** 32;

export const u8: FieldType<number> = {
  bytes: 1,
  read: (view, at) => view.getUint8(at),
  write: (view, at, value) => view.setUint8(at, value),
};

export const i8: FieldType<number> = {
  bytes: 1,
  read: (view, at) => view.getInt8(at),
  write: (view, at, value) => view.setInt8(at, value),
};

export const u16: FieldType<number> = {
  bytes: 2,
  read: (view, at) => view.getUint16(at, true),
  write: (view, at, value) => view.setUint16(at, value, true),
};

export const u24: FieldType<number> = {
  bytes: 3,
  read: (view, at) => view.getUint16(at, true) | (view.getUint8(at + 2) << 16),
  write: (view, at, value) => {
    view.setUint16(at, value, true);
    view.setUint8(at + 2, value >>> 16);
  },
};

export const u32: FieldType<number> = {
  bytes: 4,
  read: (view, at) => view.getUint32(at, true),
  write: (view, at, value) => view.setUint32(at, value, true),
};

/** 64 bits of which a number can hold all that is ever said: lengths, offsets, and what one end has numbered. */
export const u53: FieldType<number> = {
  bytes: 8,
  read: (view, at) => view.getUint32(at + 4, true) * WORD + view.getUint32(at, true),
  write: (view, at, value) => {
    view.setUint32(at, value % WORD, true);
    view.setUint32(at + 4, Math.floor(value / WORD), true);
  },
  problem: (value) => (Number.isSafeInteger(value) ? undefined : 'is more than 2^53 - 1'),
};

/** 64 bits of which all may be used: tags and addresses. */
export const u64: FieldType<bigint> = {
  bytes: 8,
  read: (view, at) => view.getBigUint64(at, true),
  write: (view, at, value) => view.setBigUint64(at, value, true),
};

/** A type of which not every value makes sense. */
export function only<T, Good extends T>(
  type: FieldType<T>,
  isGood: (value: T) => value is Good,
  problem: string,
): FieldType<Good>;
export function only<T>(type: FieldType<T>, isGood: (value: T) => boolean, problem: string): FieldType<T>;
export function only<T>(type: FieldType<T>, isGood: (value: T) => boolean, problem: string): FieldType<T> {
  return {
    ...type,
    problem: (value) => type.problem?.(value) ?? (isGood(value) ? undefined : `is ${String(value)}, ${problem}`),
  };
}

type Fields = Readonly<Record<string, FieldType<number | bigint>>>;

/** What fields hold, by their names. */
type ValuesOf<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends FieldType<infer T extends number | bigint> ? T : never;
};

/** Fields that follow each other, and hold a `V`. */
export interface Layout<V> {
  readonly bytes: number;
  /** Writes them from `at` on. @returns where they end */
  encode(view: DataView, at: number, values: V): number;
  /** What they hold from `at` on, or a sentence that says what is wrong with it. */
  decode(view: DataView, at: number): V | string;
}

/** What the fields of a layout hold. */
export type Said<L> = L extends Layout<infer V> ? V : never;

/** @param fields in the order of the wire */
export function layout<F extends Fields>(fields: F): Layout<ValuesOf<F>> {
  const names = Object.keys(fields);
  const types: readonly FieldType<number | bigint>[] = Object.values(fields);
  const bytes = types.reduce((sum, type) => sum + type.bytes, 0);
  // A copy of what has its fields already is quicker than one to which they are added.
  const blank: Readonly<Record<string, number | bigint>> = Object.fromEntries(names.map((name) => [name, 0]));
  return {
    bytes,
    encode: (view, at, values) => {
      let end = at;
      for (let i = 0; i < types.length; i += 1) {
        const type = types[i];
        type.write(view, end, values[names[i]]);
        end += type.bytes;
      }
      return end;
    },
    decode: (view, at) => {
      if (view.byteLength - at < bytes) return `it has ${view.byteLength - at} bytes, and ${bytes} are needed`;
      const values: Record<string, number | bigint> = { ...blank };
      let end = at;
      for (let i = 0; i < types.length; i += 1) {
        const [name, type] = [names[i], types[i]];
        const value = type.read(view, end);
        const problem = type.problem?.(value);
        if (problem !== undefined) return `${name} ${problem}`;
        values[name] = value;
        end += type.bytes;
      }
      // Each field of F was just given a value of its type.
      return values as ValuesOf<F>;
    },
  };
}

export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
