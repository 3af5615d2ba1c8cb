/** What the sender's process tells the receiver's over the pipe between them. */
export interface StartOrder {
  readonly kind: 'start';
  readonly host?: 'thread' | 'inline';
  readonly address?: string;
  readonly output?: string;
}

/** What the receiver's process answers. */
export type Answer =
  | { readonly kind: 'ready'; readonly address: string; readonly port: number }
  | { readonly kind: 'finished'; readonly counters: Record<string, number> }
  | { readonly kind: 'failed'; readonly sentence: string };

/** What the sender says when it asks for the connection. */
export interface Offer {
  readonly totalBytes: number;
  /** At most so much at once; the receiver's memory need not be longer. */
  readonly legBytes: number;
}

/** What the receiver says when it accepts: the memory to write into. */
export interface Grant {
  readonly remoteAddr: bigint;
  readonly rkey: number;
}

const OFFER_BYTES = 16;
const GRANT_BYTES = 12;

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

export function encodeOffer({ totalBytes, legBytes }: Offer): Uint8Array {
  const bytes = new Uint8Array(OFFER_BYTES);
  view(bytes).setBigUint64(0, BigInt(totalBytes));
  view(bytes).setBigUint64(8, BigInt(legBytes));
  return bytes;
}

export function decodeOffer(bytes: Uint8Array): Offer {
  return { totalBytes: Number(view(bytes).getBigUint64(0)), legBytes: Number(view(bytes).getBigUint64(8)) };
}

export function encodeGrant({ remoteAddr, rkey }: Grant): Uint8Array {
  const bytes = new Uint8Array(GRANT_BYTES);
  view(bytes).setBigUint64(0, remoteAddr);
  view(bytes).setUint32(8, rkey);
  return bytes;
}

export function decodeGrant(bytes: Uint8Array): Grant {
  return { remoteAddr: view(bytes).getBigUint64(0), rkey: view(bytes).getUint32(8) };
}

/** The receiver's word after each leg, one byte. */
export const Verdict = { GO_ON: 1, SAME_DIGEST: 2, OTHER_DIGEST: 3 } as const;
