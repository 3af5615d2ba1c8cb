import type { PortSpace } from '../../ibta/index.js';
import { CmError } from '../checks.js';

/** Linux's range of ports for those who ask for none in particular. */
const FIRST_EPHEMERAL = 32768;
const EPHEMERAL_PORTS = 28232;
const MAX_PORT = 65535;

interface Port {
  readonly holders: Map<number, { readonly reuseAddr: boolean }>;
  listener: number | undefined;
}

export class PortTable {
  readonly #spaces = new Map<PortSpace, Map<number, Port>>();

  constructor(private readonly random: () => number) {}

  get size(): number {
    let size = 0;
    for (const ports of this.#spaces.values()) size += ports.size;
    return size;
  }

  /** Gives an identifier a port, any for 0. @throws CmError EADDRINUSE, EADDRNOTAVAIL when no port is free */
  bind(id: number, space: PortSpace, port: number, reuseAddr: boolean): number {
    if (!Number.isInteger(port) || port < 0 || port > MAX_PORT)
      throw new CmError('EINVAL', `a port is a number from 0 to ${MAX_PORT}, not ${port}`);
    const ports = this.#portsOf(space);
    const chosen = port === 0 ? this.#free(ports) : port;
    const entry: Port = ports.get(chosen) ?? { holders: new Map(), listener: undefined };
    const shared = reuseAddr && entry.listener === undefined && [...entry.holders.values()].every((it) => it.reuseAddr);
    if (entry.holders.size > 0 && !shared)
      throw new CmError('EADDRINUSE', `port ${chosen} is in use by another identifier of this device`);
    entry.holders.set(id, { reuseAddr });
    ports.set(chosen, entry);
    return chosen;
  }

  /**
   * Makes the holder of a port its listener. A listener shares its port with nobody, REUSEADDR or not, as in Linux.
   *
   * @throws CmError EADDRINUSE when another has the port
   */
  listen(id: number, space: PortSpace, port: number): void {
    const entry = this.#portsOf(space).get(port);
    if (entry?.holders.has(id) !== true || entry.holders.size > 1)
      throw new CmError(
        'EADDRINUSE',
        `another identifier has port ${port}, and a listener shares its port with nobody`,
      );
    entry.listener = id;
  }

  /** Sets whether others that say the same may have the port of an identifier, too, as long as it does not listen. */
  share(id: number, space: PortSpace, port: number, reuseAddr: boolean): void {
    this.#spaces.get(space)?.get(port)?.holders.set(id, { reuseAddr });
  }

  listener(space: PortSpace, port: number): number | undefined {
    return this.#spaces.get(space)?.get(port)?.listener;
  }

  release(id: number, space: PortSpace, port: number): void {
    const ports = this.#portsOf(space);
    const entry = ports.get(port);
    if (entry === undefined) return;
    entry.holders.delete(id);
    if (entry.listener === id) entry.listener = undefined;
    if (entry.holders.size === 0) ports.delete(port);
  }

  #free(ports: ReadonlyMap<number, Port>): number {
    const start = this.random() % EPHEMERAL_PORTS;
    for (let i = 0; i < EPHEMERAL_PORTS; i += 1) {
      const port = FIRST_EPHEMERAL + ((start + i) % EPHEMERAL_PORTS);
      if (!ports.has(port)) return port;
    }
    throw new CmError('EADDRNOTAVAIL', 'all ports for whoever asks for none in particular are in use');
  }

  #portsOf(space: PortSpace): Map<number, Port> {
    const known = this.#spaces.get(space);
    if (known !== undefined) return known;
    const ports = new Map<number, Port>();
    this.#spaces.set(space, ports);
    return ports;
  }
}
