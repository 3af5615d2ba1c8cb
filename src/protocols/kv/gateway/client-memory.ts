/** A client for which bytes are kept. */
export interface Keeper {
  /** Ends its connection, and forgets what is kept. */
  evict(): void;
}

/**
 * What all clients of a gateway together have it keep: parts of requests, and answers that they have not taken. Where that becomes too much whoever has most of it has to go: as with
 * `maxmemory-clients` of Redis.
 */
export class ClientMemory {
  readonly #bytes = new Map<Keeper, number>();
  #total = 0;

  constructor(private readonly mostBytes: number) {}

  /** Bytes that are kept for all. */
  get total(): number {
    return this.#total;
  }

  /** So much is kept for a client now. It, or another, may have been evicted when this returns. */
  keeps(client: Keeper, bytes: number): void {
    this.#total += bytes - (this.#bytes.get(client) ?? 0);
    if (bytes === 0) this.#bytes.delete(client);
    else this.#bytes.set(client, bytes);
    while (this.#total > this.mostBytes) {
      const largest = this.#largest();
      if (largest === undefined) return;
      this.leave(largest);
      largest.evict();
    }
  }

  /** The connection has gone, with all that was kept for it. Idempotent. */
  leave(client: Keeper): void {
    this.#total -= this.#bytes.get(client) ?? 0;
    this.#bytes.delete(client);
  }

  #largest(): Keeper | undefined {
    let found: Keeper | undefined;
    let most = 0;
    for (const [client, bytes] of this.#bytes)
      if (bytes > most) {
        found = client;
        most = bytes;
      }
    return found;
  }
}
