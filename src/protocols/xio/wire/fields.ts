// Numbers of 8 bytes, big-endian, that are exact in JavaScript.

const HIGH = 2 ** 32;

/** A copy of bytes, in memory of its own: those of a Buffer of Node's share theirs when they are sliced. Of what a program has transferred there are none. */
export function copyOf(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === 0 ? new Uint8Array(0) : new Uint8Array(bytes);
}

export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

export function setU64(view: DataView, offset: number, value: number): void {
  view.setUint32(offset, Math.floor(value / HIGH));
  view.setUint32(offset + 4, value % HIGH);
}

/** @returns -1 for a number beyond 2^53 */
export function u64(view: DataView, offset: number): number {
  const value = view.getUint32(offset) * HIGH + view.getUint32(offset + 4);
  return Number.isSafeInteger(value) ? value : -1;
}
