/** The longest body of a request or a response. */
export const MAX_BYTES = 1 << 24;

const HEADER_BYTES = 5;
const KINDS = { read: 1, write: 2, share: 3 } as const;

/** What a client's header says: that the server is to answer with so many bytes, that the request has so many, or that it is to share memory. */
export function questionOf(direction: keyof typeof KINDS, bytes: number): Uint8Array {
  const header = new DataView(new ArrayBuffer(HEADER_BYTES));
  header.setUint8(0, KINDS[direction]);
  header.setUint32(1, bytes);
  return new Uint8Array(header.buffer);
}

/** Whether a header asks for memory that is shared. */
export function isForMemory(header: Uint8Array): boolean {
  return header.length === HEADER_BYTES && header[0] === KINDS.share;
}

/** How many bytes a header asks for; undefined where it makes no sense. @param bodyBytes of the request that it comes with */
export function wantedBytes(header: Uint8Array, bodyBytes: number): number | undefined {
  if (header.length !== HEADER_BYTES) return undefined;
  const bytes = ((header[1] << 24) | (header[2] << 16) | (header[3] << 8) | header[4]) >>> 0;
  if (bytes > MAX_BYTES) return undefined;
  if (header[0] === KINDS.read) return bodyBytes === 0 ? bytes : undefined;
  return header[0] === KINDS.write && bodyBytes === bytes ? 0 : undefined;
}
