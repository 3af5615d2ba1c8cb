// The keys that SCAN answers (protocol/kv.md 6.3): of each its length, in one byte, and its bytes.

/** Bytes that a key takes. */
export function listedBytes(key: Uint8Array): number {
  return 1 + key.length;
}

/** @param into has room for {@link listedBytes} at `at`. @returns where the next one goes */
export function listKey(into: Uint8Array, at: number, key: Uint8Array): number {
  into[at] = key.length;
  into.set(key, at + 1);
  return at + listedBytes(key);
}

/** Copies of the keys; undefined for what is no such list. */
export function listedKeys(bytes: Uint8Array): Uint8Array[] | undefined {
  const keys: Uint8Array[] = [];
  let at = 0;
  while (at < bytes.length) {
    const end = at + 1 + bytes[at];
    if (bytes[at] === 0 || end > bytes.length) return undefined;
    keys.push(bytes.slice(at + 1, end));
    at = end;
  }
  return keys;
}

// What STATS answers (protocol/kv.md 6.3): numbers of 64 bits with their names, in ASCII. Servers may have some that clients do not know.

/** A number that has a name of 1 to 255 characters. */
export type NamedNumber = readonly [name: string, value: bigint];

const NUMBER_BYTES = 8;

/** As many as fit, from one on. @returns their bytes, and where to go on: 0 when those were all */
export function encodeNumbers(
  numbers: readonly NamedNumber[],
  from: number,
  roomBytes: number,
): { readonly bytes: Uint8Array; readonly next: number } {
  const bytes = new Uint8Array(roomBytes);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (let i = from; i < numbers.length; i += 1) {
    const [name, value] = numbers[i];
    const end = at + 1 + name.length + NUMBER_BYTES;
    if (end > roomBytes) return { bytes: bytes.subarray(0, at), next: i };
    bytes[at] = name.length;
    for (let j = 0; j < name.length; j += 1) bytes[at + 1 + j] = name.charCodeAt(j);
    view.setBigUint64(end - NUMBER_BYTES, value);
    at = end;
  }
  return { bytes: bytes.subarray(0, at), next: 0 };
}

/** The numbers; undefined for what are none. */
export function decodeNumbers(bytes: Uint8Array): NamedNumber[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const numbers: NamedNumber[] = [];
  let at = 0;
  while (at < bytes.length) {
    const valueAt = at + 1 + bytes[at];
    if (bytes[at] === 0 || valueAt + NUMBER_BYTES > bytes.length) return undefined;
    numbers.push([String.fromCharCode(...bytes.subarray(at + 1, valueAt)), view.getBigUint64(valueAt)]);
    at = valueAt + NUMBER_BYTES;
  }
  return numbers;
}
