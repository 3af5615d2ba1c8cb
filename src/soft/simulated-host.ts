import { createCrc32 } from '../host/index.js';
import type { SimulatedLink } from '../link/index.js';
import { CommandError, CompChannelRing, doorbellPageShape } from '../nic/index.js';
import type { Gid } from '../spec/index.js';
import { crc32 } from '../wire/index.js';
import { Adapter } from './adapter.js';
import type { AdapterHost, LocatedMemory } from './adapter-host.js';
import type { Argument, Value, Verb } from './command.js';
import { createCmEventRing } from './cm-event-ring.js';
import { createAsyncEventRing } from './event-ring.js';
import { locateInThread, resolveMemory } from './memory-locator.js';
import type { Simulation } from './simulation.js';

/** An adapter under virtual time. Whoever waits on it makes that time pass. */
export class SimulatedHost implements AdapterHost {
  readonly kind = 'simulated';
  readonly gid: Gid;
  readonly maxPacketBytes: number;
  readonly failure = undefined;
  readonly doorbells = new ArrayBuffer(doorbellPageShape().bytes);
  readonly asyncEvents = createAsyncEventRing();
  readonly cmEvents = createCmEventRing();
  readonly adapter: Adapter;

  readonly #listeners = new Set<() => void>();
  #rest: (() => void) | undefined;
  #open = true;

  constructor(
    private readonly simulation: Simulation,
    link: SimulatedLink,
    readonly address: string,
  ) {
    this.gid = link.gid;
    this.maxPacketBytes = link.maxPacketBytes;
    this.adapter = new Adapter({
      link,
      crc32: createCrc32(crc32),
      random: simulation.random,
      doorbells: this.doorbells,
      asyncEvents: this.asyncEvents,
      cmEvents: this.cmEvents,
      resolve: resolveMemory,
      onEvent: (ring) => this.#onEvent(ring),
    });
    simulation.add(this);
  }

  execute<V extends Verb>(verb: V, argument: Argument<V>): Value<V> {
    this.adapter.nic.advanceTo(this.simulation.nowUs);
    try {
      return this.adapter.execute(verb, argument);
    } finally {
      // What a command gives the NIC to do is done now, as by an inline one; no time passes meanwhile.
      this.adapter.push(this.simulation.nowUs);
      this.simulation.stirred();
    }
  }

  /** Addresses are made up, so that a run that is repeated sends the same bytes. */
  locate(bytes: Uint8Array): LocatedMemory {
    return locateInThread(bytes, this.simulation.addresses);
  }

  ring(): void {
    this.simulation.stirred();
  }

  found(): void {
    // What is there needs no time to pass.
  }

  idle(): void {
    this.simulation.step(Infinity);
  }

  nowUs(): number {
    return this.simulation.nowUs;
  }

  deviceClockNs(): bigint {
    return BigInt(Math.floor(this.simulation.nowUs * 1000));
  }

  wallClockNs(): bigint {
    return this.deviceClockNs();
  }

  wait(ring: Int32Array, index: number, seen: number, timeoutUs: number): void {
    const deadlineUs = this.simulation.nowUs + timeoutUs;
    while (Atomics.load(ring, index) === seen && this.simulation.nowUs < deadlineUs) {
      if (this.simulation.step(deadlineUs)) continue;
      throw new CommandError('ETIMEDOUT', 'nothing is left to happen in the simulation, so the event will never come');
    }
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#rest ??= this.simulation.keepRunning();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#rest?.();
      this.#rest = undefined;
    };
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.simulation.remove(this);
    this.adapter.close();
  }

  #onEvent(ring: Int32Array): void {
    if (Atomics.compareExchange(ring, CompChannelRing.ASYNC_WAITERS, 1, 0) !== 1) return;
    this.simulation.announced();
    queueMicrotask(() => {
      for (const listener of [...this.#listeners]) listener();
    });
  }
}
