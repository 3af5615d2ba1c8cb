/** Chunks below this are put together: a message of its own costs more than a copy. */
const SMALL_BYTES = 8 * 1024;
/** What is put together is at most so long. */
const GATHERED_BYTES = 64 * 1024;

/** One write of a stream's, as `_writev` is given them. */
export interface Chunk {
  readonly chunk: Uint8Array;
}

/** The same bytes in few pieces: neighbours that are small become one, and large ones stay where they lie. */
export function gathered(chunks: readonly Chunk[]): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let small: Uint8Array[] = [];
  let bytes = 0;
  const put = (): void => {
    if (small.length > 0) pieces.push(small.length === 1 ? small[0] : Buffer.concat(small, bytes));
    small = [];
    bytes = 0;
  };
  for (const { chunk } of chunks) {
    if (chunk.length >= SMALL_BYTES || bytes + chunk.length > GATHERED_BYTES) put();
    if (chunk.length >= SMALL_BYTES) {
      pieces.push(chunk);
      continue;
    }
    small.push(chunk);
    bytes += chunk.length;
  }
  put();
  return pieces;
}
