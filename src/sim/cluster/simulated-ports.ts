import { CommandError } from '../../device/nic/index.js';
import { familyOf } from '../../device/wire/index.js';
import type { DatagramPort, DatagramPortOptions } from '../../api/runtime/index.js';
import type { HostPorts, Simulation } from './simulation.js';

/** As Linux counts them. */
const FIRST_FREE = 32_768;
const LAST_FREE = 60_999;
/** What waits for a host that stands still; more is dropped. */
const MAX_WAITING = 256;
const UDP_HEADER_BYTES = 8;
const IP_HEADER_BYTES = { 4: 20, 6: 40 } as const;

/** The UDP ports of a simulated host. */
export class SimulatedPorts implements HostPorts {
  readonly #ports = new Map<number, DatagramPortOptions['onDatagram']>();
  #waiting: (() => void)[] = [];
  #nextFree = FIRST_FREE;

  constructor(
    private readonly simulation: Simulation,
    private readonly host: {
      readonly address: string;
      readonly paused: boolean;
      run(action: () => void): void;
    },
  ) {}

  get address(): string {
    return this.host.address;
  }

  /** @throws CommandError EADDRNOTAVAIL for an address that is not the host's; EADDRINUSE */
  open({ host, port: asked, onDatagram }: DatagramPortOptions): DatagramPort {
    const { address } = this.host;
    if (host !== address) throw new CommandError('EADDRNOTAVAIL', `the host has address ${address}, not ${host}`);
    const port = asked === 0 ? this.#free() : asked;
    if (this.#ports.has(port)) throw new CommandError('EADDRINUSE', `UDP port ${port} of ${address} is taken`);
    this.#ports.set(port, onDatagram);
    const stopRunning = this.simulation.keepRunning();
    let isOpen = true;
    return {
      port,
      send: (bytes, toHost, toPort) => {
        if (!isOpen) return;
        const copy = bytes.slice();
        const wireBytes = copy.length + UDP_HEADER_BYTES + IP_HEADER_BYTES[familyOf(address)];
        this.simulation.network.sendBeside(address, toHost, wireBytes, () =>
          this.simulation.portsOf(toHost)?.arrived(toPort, copy, address, port),
        );
        this.simulation.stirred();
      },
      close: () => {
        if (!isOpen) return;
        isOpen = false;
        if (this.#ports.get(port) === onDatagram) this.#ports.delete(port);
        stopRunning();
      },
    };
  }

  /** What waited for the host to go on. */
  resumed(): void {
    for (const deliver of this.#waiting.splice(0)) deliver();
  }

  arrived(port: number, bytes: Uint8Array, fromHost: string, fromPort: number): void {
    const deliver = (): void => {
      this.simulation.announced();
      queueMicrotask(() => {
        this.host.run(() => this.#ports.get(port)?.(bytes.slice(), fromHost, fromPort));
      });
    };
    if (!this.host.paused) deliver();
    else if (this.#waiting.length < MAX_WAITING) this.#waiting.push(deliver);
  }

  /** The host has vanished. */
  crashed(): void {
    this.#ports.clear();
    this.#waiting = [];
  }

  #free(): number {
    for (let tries = FIRST_FREE; tries <= LAST_FREE; tries += 1) {
      const port = this.#nextFree;
      this.#nextFree = port === LAST_FREE ? FIRST_FREE : port + 1;
      if (!this.#ports.has(port)) return port;
    }
    throw new CommandError('EADDRINUSE', 'no UDP port is free');
  }
}
