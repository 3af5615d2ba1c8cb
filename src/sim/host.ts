import type { PortSpace } from '../device/ibta/index.js';
import { familyOf } from '../device/wire/index.js';
import {
  type CmId,
  connect,
  type Connection,
  type ConnectOptions,
  createEventChannel,
  createId,
  type CreateIdOptions,
  type EventChannel,
  listen,
  type Listener,
  type ListenOptions,
} from '../api/rdmacm/index.js';
import { openShared } from '../providers/soft/index.js';
import type { SimulatedCluster } from './cluster/simulated-cluster.js';
import type { SimulatedLinkOptions } from '../device/link/index.js';
import { type Context, type OpenOptions, type Problem, VerbsError } from '../api/verbs/index.js';
import { onMachine, type SimMachine } from './ambient.js';

/** How a simulated host is made. */
export interface SimHostOptions extends SimulatedLinkOptions {
  /** Default: the next of 10.0.0.1, 10.0.0.2 and so on. IPv6 as well. */
  readonly address?: string;
}

/** `up`; `paused`, until {@link SimHost.resume}; `down`, from a crash until {@link SimHost.restart}. */
export type HostState = 'up' | 'paused' | 'down';

/** What a host needs of its simulation. */
export interface HostParts {
  readonly cluster: SimulatedCluster;
  readonly name: string;
  readonly address: string;
  readonly link: SimulatedLinkOptions;
  readonly lookup: (name: string) => readonly string[];
}

/** A computer of a simulated network, with one NIC at one address. `Sim.host` makes hosts. */
export class SimHost {
  readonly name: string;
  readonly address: string;

  readonly #parts: HostParts;
  #context: Context;
  #state: HostState = 'up';
  /** Counts its lives: what one began, the next one does not go on with. */
  #life = 0;
  #machine: SimMachine;
  /** What programs do when they go on. */
  #postponed: (() => void)[] = [];

  /** @internal `Sim.host` makes hosts. */
  constructor(parts: HostParts) {
    this.#parts = parts;
    this.name = parts.name;
    this.address = parts.address;
    this.#machine = this.#newMachine();
    this.#context = this.#open();
  }

  get state(): HostState {
    return this.#state;
  }

  /**
   * Its NIC, as `openDevice` gives it. All programs of the host share it, rdma_cm included; when one has closed it, it is
   * opened again for the next.
   *
   * @throws VerbsError ENODEV while the host is down
   */
  get context(): Context {
    this.#requireUp('ibv_open_device');
    if (!isOpen(this.#context)) this.#context = this.#open();
    return this.#context;
  }

  /**
   * Runs a program on this host: its `openDevice`, `connect`, `listen` and `createId` find the host's NIC without being
   * told, and names of hosts are known to them.
   *
   * @returns what the program gives. When the host crashes first, the promise never settles: the program is gone
   * @throws VerbsError (the promise rejects) ENODEV while the host is down
   */
  run<T>(program: () => T | Promise<T>): Promise<T> {
    const life = this.#life;
    return new Promise((resolve, reject) => {
      const unlessGone =
        <Value>(settle: (value: Value) => void) =>
        (value: Value): void => {
          if (this.#life === life) settle(value);
        };
      const running = async (): Promise<T> => {
        this.#requireUp('sim.run');
        return onMachine(this.#machine, program);
      };
      running().then(unlessGone(resolve), unlessGone(reject));
    });
  }

  /** As `connect` of the package, from this host; `host` may be the name of another. */
  connect(options: Omit<ConnectOptions, 'context' | 'open'>): Promise<Connection> {
    return this.run(() => connect(options));
  }

  /** As `listen` of the package, on this host. */
  listen(options: Omit<ListenOptions, 'context' | 'open'> = {}): Listener {
    return listen({ ...options, context: this.context });
  }

  /** As `createEventChannel` of the package: identifiers that report there are this host's. */
  createEventChannel(): EventChannel {
    return createEventChannel({ contexts: [this.context] });
  }

  /** As `createId` of the package, on this host. */
  createId(
    channel: EventChannel | undefined,
    portSpace: PortSpace,
    options: Omit<CreateIdOptions, 'contexts' | 'open'> = {},
  ): CmId {
    return createId(channel, portSpace, { ...options, contexts: [this.context] });
  }

  /** Counters of its NIC, as `rdma statistic` names them; after a crash as they were. */
  counters(): Readonly<Record<string, number>> {
    return this.#state === 'down' ? this.#context.counters() : this.context.counters();
  }

  /**
   * Has its NIC stand still, and its programs as far as they wait for the NIC, as SIGSTOP and a suspended machine do. What
   * arrives meanwhile waits; its timers are overdue afterwards. Does nothing to a host that is not up.
   */
  pause(): void {
    if (this.#state !== 'up') return;
    this.#parts.cluster.pause(this.context);
    this.#state = 'paused';
  }

  /** Has it go on. Does nothing to a host that is not paused. */
  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'up';
    this.#parts.cluster.resume(this.context);
    for (const action of this.#postponed.splice(0)) action();
    this.#parts.cluster.simulation.announced();
  }

  /**
   * Has it vanish, as a power failure does: NIC, memory, connections, programs. Nobody is told. Promises of its programs
   * never settle; calls on its objects throw EIO.
   */
  crash(): void {
    if (this.#state === 'down') return;
    this.#state = 'down';
    this.#life += 1;
    this.#postponed = [];
    this.#parts.cluster.crash(this.#context);
  }

  /** Brings it back after a crash: an empty machine with the same name and address. Does nothing to one that is not down. */
  restart(): void {
    if (this.#state !== 'down') return;
    this.#state = 'up';
    this.#machine = this.#newMachine();
    this.#context = this.#open();
  }

  #open(): Context {
    const machine = this.#machine;
    return this.#parts.cluster.open(this.address, this.#parts.link, {
      lookup: (call, name, family) => machine.lookup(call, name, family),
      run: (action) => onMachine(machine, action),
    });
  }

  #newMachine(): SimMachine {
    const life = this.#life;
    const context = (): Context => {
      if (this.#life !== life) throw new VerbsError('ibv_open_device', this.#gone());
      return this.context;
    };
    const open = (options: OpenOptions = {}): Context => {
      const shared = openShared('ibv_open_device', options);
      if (shared !== undefined) return shared;
      const { address = this.address } = options;
      if (address === this.address) return context();
      const message = `the host ${this.name} has address ${this.address}, not ${address}`;
      throw new VerbsError('ibv_open_device', { errno: 'EADDRNOTAVAIL', message, advice: '' });
    };
    return {
      deviceList: () => {
        const { name, guid, nodeType, transportType } = context().device;
        return [{ name, guid, nodeType, transportType, open }];
      },
      open,
      fixedDevices: () => [context()],
      addresses: () => [],
      sourceToward: () => undefined,
      lookup: (call, name, family) => this.#lookup(call, name, family),
      secretWord: this.#parts.cluster.simulation.secretWord,
      whenUp: (action) => {
        if (this.#life !== life) return;
        if (this.#state === 'paused') this.#postponed.push(action);
        else action();
      },
    };
  }

  #lookup(call: string, name: string, family: 4 | 6 | undefined): Promise<readonly string[]> {
    const known = name === 'localhost' ? [this.address] : this.#parts.lookup(name);
    const found = known.filter((address) => family === undefined || familyOf(address) === family);
    if (found.length > 0) return Promise.resolve(found);
    const message = `no host of the simulation is called ${name}`;
    return Promise.reject(new VerbsError(call, { errno: 'ENOENT', message, advice: '' }));
  }

  #gone(): Problem {
    return { errno: 'ENODEV', message: `the host ${this.name} is down`, advice: 'restart brings it back, empty' };
  }

  #requireUp(call: string): void {
    if (this.#state === 'down') throw new VerbsError(call, this.#gone());
  }
}

function isOpen(context: Context): boolean {
  try {
    context.queryDevice();
    return true;
  } catch {
    return false;
  }
}
