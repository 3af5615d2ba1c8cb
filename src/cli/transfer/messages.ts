/** Where one end can be reached and written to; what two RDMA programs must tell each other before they talk. */
export interface EndAddress {
  /** The GID as an IP address. */
  readonly address: string;
  readonly qpn: number;
  readonly psn: number;
  /** Exponent as in `Mtu`. */
  readonly mtu: number;
  /** The memory to write into: its address in hexadecimal, and the key to it. */
  readonly remoteAddr: string;
  readonly rkey: number;
}

/** What the sender's process tells the receiver's over the pipe between them. */
export interface StartOrder {
  readonly kind: 'start';
  readonly totalBytes: number;
  readonly legBytes: number;
  readonly host?: 'thread' | 'inline';
  readonly address?: string;
  readonly output?: string;
}

export interface ConnectOrder {
  readonly kind: 'connect';
  readonly end: EndAddress;
}

export type Order = StartOrder | ConnectOrder;

/** What the receiver's process answers. */
export type Answer =
  | { readonly kind: 'ready'; readonly end: EndAddress }
  | { readonly kind: 'connected' }
  | { readonly kind: 'finished'; readonly counters: Record<string, number> }
  | { readonly kind: 'failed'; readonly sentence: string };

/** Bytes of a SHA-256 digest. */
export const DIGEST_BYTES = 32;

/** The receiver's word after each leg, one byte. */
export const Verdict = { GO_ON: 1, SAME_DIGEST: 2, OTHER_DIGEST: 3 } as const;
