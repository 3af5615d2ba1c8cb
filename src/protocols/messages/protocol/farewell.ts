import { textIn } from './hello.js';

/** Why an end closes, in the first byte of CLOSE's payload; a text may follow. */
export const CloseReason = {
  DONE: 0,
  /** The peer broke the protocol; the text says how. */
  PROTOCOL: 1,
  FAILED: 2,
} as const;
export type CloseReason = (typeof CloseReason)[keyof typeof CloseReason];

export interface Farewell {
  readonly reason: number;
  readonly text: string;
}

/** More would not fit the smallest buffers. */
const MAX_BYTES = 255;

export function encodeFarewell({ reason, text }: Farewell): Uint8Array {
  const bytes = new Uint8Array(MAX_BYTES);
  bytes[0] = reason;
  const { written } = new TextEncoder().encodeInto(text, bytes.subarray(1));
  return bytes.slice(0, 1 + written);
}

/** No payload means that the peer is done. */
export function decodeFarewell(bytes: Uint8Array): Farewell {
  return { reason: bytes.length === 0 ? CloseReason.DONE : bytes[0], text: textIn(bytes.subarray(1, MAX_BYTES)) };
}
