import type { Gid } from '../../device/ibta/index.js';
import { CommandError, CompChannelRing, doorbellPageShape } from '../../device/nic/index.js';
import { type DatagramPort, type DatagramPortOptions, type Life, runtime } from '../../api/runtime/index.js';
import { type AdapterHost, type LocatedMemory, locateInThread, resolveInThread } from '../../providers/soft/index.js';
import {
  type AdapterClient,
  type Argument,
  type ClientLimits,
  createAsyncEventRing,
  createCmEventRing,
  type Value,
  type Verb,
} from '../../device/adapter/index.js';
import type { SimulatedClient, SimulatedNic } from './simulated-nic.js';
import type { Simulation } from './simulation.js';

/** A client of an adapter under virtual time. Whoever waits on it makes that time pass. */
export class SimulatedHost implements AdapterHost, SimulatedClient {
  readonly kind = 'simulated';
  readonly address: string;
  readonly gid: Gid;
  readonly maxPacketBytes: number;
  readonly crc32Source = runtime().crc32Source;
  readonly doorbells = new ArrayBuffer(doorbellPageShape().bytes);
  readonly asyncEvents = createAsyncEventRing(false);
  readonly cmEvents = createCmEventRing(false);
  readonly client: AdapterClient;

  readonly #simulation: Simulation;
  readonly #listeners = new Set<() => void>();
  readonly #timers = new Set<() => void>();
  readonly #ports = new Set<() => void>();
  #rest: (() => void) | undefined;
  /** Something was announced while the NIC stood still. */
  #missed = false;

  /**
   * @param nic the NIC that it shares with others, or has for itself
   * @throws CommandError as `SimulatedNic.attach`
   */
  constructor(
    readonly nic: SimulatedNic,
    readonly limits: ClientLimits = {},
  ) {
    const { simulation, link, address } = nic;
    this.#simulation = simulation;
    this.address = address;
    this.gid = link.gid;
    this.maxPacketBytes = link.maxPacketBytes;
    this.client = nic.attach(this, {
      doorbells: this.doorbells,
      asyncEvents: this.asyncEvents,
      cmEvents: this.cmEvents,
      resolve: resolveInThread,
      onEvent: (ring) => this.#onEvent(ring),
      most: limits,
    });
  }

  another(): AdapterHost {
    return new SimulatedHost(this.nic, this.limits);
  }

  get failure(): string | undefined {
    return this.nic.failure;
  }

  /** Ring by ring, whether somebody waits there in the event loop. */
  readonly isAwaited = (ring: Int32Array): boolean => Atomics.load(ring, CompChannelRing.ASYNC_WAITERS) === 1;

  execute<V extends Verb>(verb: V, argument: Argument<V>): Value<V> {
    return this.nic.execute(this.client, verb, argument);
  }

  /** Addresses are made up, so that a run that is repeated sends the same bytes. */
  locate(bytes: Uint8Array): LocatedMemory {
    return locateInThread(bytes, BigInt(this.#simulation.addresses.of(bytes)));
  }

  release(): void {
    // The adapter has the very view, and forgets it by itself.
  }

  ring(): void {
    this.#simulation.stirred();
  }

  found(): void {
    // What is there needs no time to pass.
  }

  idle(ring: Int32Array): void {
    this.#simulation.polled(ring);
  }

  idleAwaited(): void {
    // Time passes when those who wait in the event loop have had their turn.
  }

  get seededWord(): () => number {
    return this.#simulation.secretWord;
  }

  get lookup(): AdapterHost['lookup'] {
    return this.nic.home?.lookup;
  }

  nowUs(): number {
    return this.#simulation.nowUs;
  }

  deviceClockNs(): bigint {
    return BigInt(Math.floor(this.#simulation.nowUs * 1000));
  }

  wallClockNs(): bigint {
    return this.deviceClockNs();
  }

  wait(ring: Int32Array, index: number, seen: number, timeoutUs: number): void {
    if (this.failure !== undefined) throw new CommandError('EIO', this.failure);
    const deadlineUs = this.#simulation.nowUs + timeoutUs;
    while (Atomics.load(ring, index) === seen && this.#simulation.nowUs < deadlineUs) {
      if (this.#simulation.step(deadlineUs)) continue;
      throw new CommandError('ETIMEDOUT', 'nothing is left to happen in the simulation, so the event will never come');
    }
  }

  listen(listener: () => void): Life {
    this.#listeners.add(listener);
    this.#rest ??= this.#simulation.keepRunning();
    const end = (): void => {
      this.#listeners.delete(listener);
      this.#restIfUnheard();
    };
    // Time passes for whoever waits, and keeps no process.
    return { ref: () => undefined, unref: () => undefined, end };
  }

  after(delayUs: number, action: () => void): () => void {
    const stopRunning = this.#simulation.keepRunning();
    const forget = (): void => {
      this.#timers.delete(cancel);
      stopRunning();
    };
    const stopTimer = this.#simulation.timer(delayUs, () => {
      forget();
      this.nic.run(action);
    });
    const cancel = (): void => {
      if (!this.#timers.has(cancel)) return;
      stopTimer();
      forget();
    };
    this.#timers.add(cancel);
    return cancel;
  }

  chore(delayUs: number, action: () => void): () => void {
    const cancel = (): void => {
      if (!this.#timers.delete(cancel)) return;
      stop();
    };
    const stop = this.#simulation.chore(delayUs, () => {
      this.#timers.delete(cancel);
      this.nic.run(action);
    });
    this.#timers.add(cancel);
    return cancel;
  }

  run(action: () => void): void {
    if (this.failure === undefined) this.nic.run(action);
  }

  openDatagramPort(options: DatagramPortOptions): DatagramPort {
    const port = this.nic.ports.open(options);
    const close = (): void => {
      this.#ports.delete(close);
      port.close();
    };
    this.#ports.add(close);
    return { port: port.port, send: (bytes, host, to) => port.send(bytes, host, to), close };
  }

  resumed(): void {
    if (this.#missed) this.#announce();
    this.#missed = false;
  }

  crashed(): void {
    this.#listeners.clear();
    this.#restIfUnheard();
    for (const cancel of [...this.#timers]) cancel();
    for (const close of [...this.#ports]) close();
  }

  close(): void {
    for (const close of [...this.#ports]) close();
    this.nic.detach(this, this.client);
  }

  #restIfUnheard(): void {
    if (this.#listeners.size > 0) return;
    this.#rest?.();
    this.#rest = undefined;
  }

  #onEvent(ring: Int32Array): void {
    if (Atomics.compareExchange(ring, CompChannelRing.ASYNC_WAITERS, 1, 0) !== 1) return;
    if (this.nic.paused) this.#missed = true;
    else this.#announce();
  }

  #announce(): void {
    this.#simulation.announced();
    queueMicrotask(() => {
      for (const listener of [...this.#listeners]) this.nic.run(listener);
    });
  }
}
