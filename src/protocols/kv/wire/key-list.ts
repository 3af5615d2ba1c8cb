// The keys that SCAN answers (docs/protocol.md 6.3): of each its length, in one byte, and its bytes.

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
