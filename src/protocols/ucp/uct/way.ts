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
