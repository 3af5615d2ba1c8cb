import type { SimulatedLink } from '../../device/link/index.js';
import { CommandError } from '../../device/nic/index.js';
import { runtime } from '../../api/runtime/index.js';
import {
  Adapter,
  type AdapterClient,
  type Argument,
  type ClientParts,
  LAST_VERBS,
  type Value,
  type Verb,
} from '../../device/adapter/index.js';
import type { AdapterHost } from '../../providers/soft/index.js';
import { SimulatedPorts } from './simulated-ports.js';
import type { Simulation } from './simulation.js';

/** What a program that has the NIC open does when that stands still, goes on or is gone. */
export interface SimulatedClient {
  resumed(): void;
  crashed(): void;
}

/** The host that a NIC is in. */
export interface NicHome {
  /** As `Provider.lookup`. */
  readonly lookup: NonNullable<AdapterHost['lookup']>;
  /** Calls a function as a program of the host. */
  readonly run: (action: () => void) => void;
}

/** A NIC under virtual time, for as long as somebody has it open. */
export class SimulatedNic {
  readonly adapter: Adapter;
  /** UDP's, of the host that the NIC is in. */
  readonly ports: SimulatedPorts;

  readonly #programs = new Set<SimulatedClient>();
  #open = true;
  #crashed = false;
  #paused = false;

  constructor(
    readonly simulation: Simulation,
    readonly link: SimulatedLink,
    readonly address: string,
    readonly home: NicHome | undefined,
  ) {
    this.adapter = new Adapter({ link, crc32: runtime().crc32, random: simulation.random });
    this.ports = new SimulatedPorts(simulation, this);
    simulation.add(this);
  }

  /** Whether it takes part: neither closed nor crashed. */
  get isOpen(): boolean {
    return this.#open;
  }

  /** Calls what a program has asked to be called. */
  run(action: () => void): void {
    if (this.home === undefined) action();
    else this.home.run(action);
  }

  get paused(): boolean {
    return this.#paused;
  }

  get failure(): string | undefined {
    return this.#crashed ? `the host at ${this.address} has crashed` : undefined;
  }

  /** Takes a client. @throws CommandError ENOMEM when there are too many, EIO after a crash, EINVAL when it was closed */
  attach(program: SimulatedClient, parts: ClientParts): AdapterClient {
    if (this.failure !== undefined) throw new CommandError('EIO', this.failure);
    if (!this.#open) throw new CommandError('EINVAL', 'nobody has the device open any more');
    const client = this.adapter.attach(parts);
    this.#programs.add(program);
    return client;
  }

  /** Ends a client; with the last one the NIC goes as well. */
  detach(program: SimulatedClient, client: AdapterClient): void {
    if (!this.#open) return;
    this.#programs.delete(program);
    if (this.#programs.size === 0) {
      this.#open = false;
      this.simulation.remove(this);
      this.adapter.close();
      return;
    }
    this.adapter.nic.advanceTo(this.simulation.nowUs);
    this.adapter.detach(client);
    this.#push();
  }

  execute<V extends Verb>(client: AdapterClient, verb: V, argument: Argument<V>): Value<V> {
    if (this.#crashed) {
      // Those who tidy up after a crash need not know of it.
      if (LAST_VERBS.has(verb)) return client.execute(verb, argument);
      throw new CommandError('EIO', this.failure ?? '');
    }
    this.adapter.nic.advanceTo(this.simulation.nowUs);
    try {
      return client.execute(verb, argument);
    } finally {
      this.#push();
    }
  }

  /** Has the NIC, and whoever waits in the event loop, stand still. What arrives waits for room as it always does. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    for (const program of this.#programs) program.resumed();
    this.ports.resumed();
    this.simulation.stirred();
  }

  /** All of it is gone, and nobody is told: neither peers nor those who wait here. */
  crash(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#crashed = true;
    this.simulation.remove(this);
    this.link.close();
    this.ports.crashed();
    for (const program of this.#programs) program.crashed();
  }

  /** What a command gives the NIC to do is done now, as by an inline one; no time passes meanwhile. */
  #push(): void {
    if (!this.#paused) this.adapter.push(this.simulation.nowUs);
    this.simulation.stirred();
  }
}
