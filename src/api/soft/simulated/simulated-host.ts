import type { Gid } from '../../../device/ibta/index.js';
import type { SimulatedLink } from '../../../device/link/index.js';
import { CommandError, CompChannelRing, doorbellPageShape } from '../../../device/nic/index.js';
import { runtime } from '../../runtime/index.js';
import type { AdapterHost, LocatedMemory } from '../adapter/adapter-host.js';
import { Adapter, LAST_VERBS } from '../adapter/adapter.js';
import { createCmEventRing } from '../adapter/cm-event-ring.js';
import type { Argument, Value, Verb } from '../adapter/command.js';
import { createAsyncEventRing } from '../adapter/event-ring.js';
import { locateInThread, resolveInThread } from '../memory-locator.js';
import type { Simulation } from './simulation.js';

/** An adapter under virtual time. Waiting on it makes that time pass. */
export class SimulatedHost implements AdapterHost {
  readonly kind = 'simulated';
  readonly gid: Gid;
  readonly maxPacketBytes: number;
  readonly doorbells = new ArrayBuffer(doorbellPageShape().bytes);
  readonly asyncEvents = createAsyncEventRing(false);
  readonly cmEvents = createCmEventRing(false);
  readonly adapter: Adapter;

  readonly #listeners = new Set<() => void>();
  readonly #timers = new Set<() => void>();
  #rest: (() => void) | undefined;
  #open = true;
  #crashed = false;
  #paused = false;
  /** Something was announced while it was paused. */
  #missed = false;

  constructor(
    private readonly simulation: Simulation,
    private readonly link: SimulatedLink,
    readonly address: string,
  ) {
    this.gid = link.gid;
    this.maxPacketBytes = link.maxPacketBytes;
    this.adapter = new Adapter({
      link,
      crc32: runtime().crc32,
      random: simulation.random,
      doorbells: this.doorbells,
      asyncEvents: this.asyncEvents,
      cmEvents: this.cmEvents,
      resolve: resolveInThread,
      onEvent: (ring) => this.#onEvent(ring),
    });
    simulation.add(this);
  }

  belongsTo(simulation: Simulation): boolean {
    return simulation === this.simulation;
  }

  /** Whether it takes part: neither closed nor crashed. */
  get isOpen(): boolean {
    return this.#open;
  }

  get paused(): boolean {
    return this.#paused;
  }

  get failure(): string | undefined {
    return this.#crashed ? `the host at ${this.address} has crashed` : undefined;
  }

  /** Ring by ring, whether somebody waits there in the event loop. */
  readonly isAwaited = (ring: Int32Array): boolean => Atomics.load(ring, CompChannelRing.ASYNC_WAITERS) === 1;

  /** Stops the NIC and those who wait in the event loop. What arrives waits for room as always. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (this.#missed) this.#announce();
    this.#missed = false;
    this.simulation.stirred();
  }

  /** All of it is gone, and nobody is told: neither peers nor those who wait here. */
  crash(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#crashed = true;
    this.simulation.remove(this);
    this.link.close();
    this.#listeners.clear();
    this.#restIfUnheard();
    for (const cancel of [...this.#timers]) cancel();
  }

  execute<V extends Verb>(verb: V, argument: Argument<V>): Value<V> {
    if (this.#crashed) {
      // Those who tidy up after a crash need not know of it.
      if (LAST_VERBS.has(verb)) return this.adapter.execute(verb, argument);
      throw new CommandError('EIO', this.failure ?? '');
    }
    this.adapter.nic.advanceTo(this.simulation.nowUs);
    try {
      return this.adapter.execute(verb, argument);
    } finally {
      // What a command gives the NIC to do is done now, as by an inline one; no time passes meanwhile.
      if (!this.#paused) this.adapter.push(this.simulation.nowUs);
      this.simulation.stirred();
    }
  }

  /** Addresses are made up, so that a run that is repeated sends the same bytes. */
  locate(bytes: Uint8Array): LocatedMemory {
    return locateInThread(bytes, BigInt(this.simulation.addresses.of(bytes)));
  }

  release(): void {
    // The adapter has the very view, and forgets it by itself.
  }

  ring(): void {
    this.simulation.stirred();
  }

  found(): void {
    // What is there needs no time to pass.
  }

  idle(): void {
    this.simulation.polled();
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
    if (this.failure !== undefined) throw new CommandError('EIO', this.failure);
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
      this.#restIfUnheard();
    };
  }

  after(delayUs: number, action: () => void): () => void {
    const stopRunning = this.simulation.keepRunning();
    const forget = (): void => {
      this.#timers.delete(cancel);
      stopRunning();
    };
    const stopTimer = this.simulation.timer(delayUs, () => {
      forget();
      action();
    });
    const cancel = (): void => {
      if (!this.#timers.has(cancel)) return;
      stopTimer();
      forget();
    };
    this.#timers.add(cancel);
    return cancel;
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.simulation.remove(this);
    this.adapter.close();
  }

  #restIfUnheard(): void {
    if (this.#listeners.size > 0) return;
    this.#rest?.();
    this.#rest = undefined;
  }

  #onEvent(ring: Int32Array): void {
    if (Atomics.compareExchange(ring, CompChannelRing.ASYNC_WAITERS, 1, 0) !== 1) return;
    if (this.#paused) this.#missed = true;
    else this.#announce();
  }

  #announce(): void {
    this.simulation.announced();
    queueMicrotask(() => {
      for (const listener of [...this.#listeners]) listener();
    });
  }
}
