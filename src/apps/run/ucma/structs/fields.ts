/** Where a number lies in a struct of the C interface, and in how many bytes. All are little-endian. */
export interface Field {
  readonly at: number;
  readonly bytes: 1 | 2 | 4;
}

/** Numbers of a struct by the names that the API has for them. */
export type Fields<K extends string> = Readonly<Record<K, Field>>;

/** Reads all numbers of a struct that begins at `at`. */
export function readFields<K extends string>(fields: Fields<K>, bytes: Buffer, at: number): Record<K, number> {
  const found: Partial<Record<K, number>> = {};
  for (const name in fields) found[name] = bytes.readUIntLE(at + fields[name].at, fields[name].bytes);
  return found as Record<K, number>; // every name of the table was just read
}

/** Writes those numbers that are there. */
export function writeFields<K extends string>(
  fields: Fields<K>,
  bytes: Buffer,
  at: number,
  values: Partial<Readonly<Record<K, number | boolean | undefined>>>,
): void {
  for (const name in fields) {
    const value: number | boolean | undefined = values[name];
    if (value !== undefined) bytes.writeUIntLE(Number(value), at + fields[name].at, fields[name].bytes);
  }
}
