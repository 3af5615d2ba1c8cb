import type { AtomicOp } from '../wire/index.js';

/** Where an end is. */
export interface EndAddress {
  /** An IP address. */
  readonly host: string;
  /** Of a reliable connection; datagrams have none. */
  readonly port?: number | undefined;
}

/** By what an endpoint leads where. */
export interface Way {
  readonly transport: 'rc' | 'ud' | 'self';
  /** Undefined for `self`. */
  readonly localAddress?: EndAddress | undefined;
  /** Undefined for `self`. */
  readonly remoteAddress?: EndAddress | undefined;
}

/** What a transport does, and how much of it at a time: bytes of the longest, 0 for what it does not do at all. */
export interface Capabilities {
  readonly am: {
    readonly short: number;
    readonly bcopy: number;
    readonly zcopy: number;
    /** The header before data that is not copied. */
    readonly header: number;
  };
  readonly put: { readonly short: number; readonly bcopy: number; readonly zcopy: number };
  readonly get: { readonly bcopy: number; readonly zcopy: number };
  /** By the bytes of the word. */
  readonly atomics: { readonly 4: readonly AtomicOp[]; readonly 8: readonly AtomicOp[] };
}
