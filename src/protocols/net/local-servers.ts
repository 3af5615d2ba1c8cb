import { isIP } from 'node:net';

/** Whether an address is a loopback address: those of this machine alone. */
function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

/**
 * What `localhost` means: each program has an adapter, and a loopback address, of its own, so that the servers of this program are found
 * where they are. Elsewhere it is the address that everybody knows.
 */
class LocalServers {
  readonly #addresses = new Map<number, Set<string>>();

  add(address: string, port: number): void {
    if (!isLoopback(address)) return;
    const known = this.#addresses.get(port) ?? new Set();
    this.#addresses.set(port, known.add(address));
  }

  remove(address: string, port: number): void {
    const known = this.#addresses.get(port);
    known?.delete(address);
    if (known?.size === 0) this.#addresses.delete(port);
  }

  /** @returns undefined when no server of this program listens on that port */
  addressFor(port: number, family: 4 | 6 | undefined): string | undefined {
    for (const address of this.#addresses.get(port) ?? [])
      if (family === undefined || isIP(address) === family) return address;
    return undefined;
  }
}

export const localServers = new LocalServers();
