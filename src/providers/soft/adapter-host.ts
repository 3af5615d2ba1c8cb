import type { Gid } from '../../device/ibta/index.js';
import type { DatagramPort, DatagramPortOptions, Life } from '../../api/runtime/index.js';
import type { HostKind, SharedDevice } from '../../api/verbs/index.js';
import type { Argument, ClientLimits, MemoryRef, Value, Verb } from '../../device/adapter/index.js';

/** What a driver gets to know about its adapter when it is opened. */
export interface AdapterFacts {
  /** The adapter's IP address, as it was asked for. */
  readonly address: string;
  readonly gid: Gid;
  /** Largest packet, BTH to ICRC, that its link carries. */
  readonly maxPacketBytes: number;
  readonly crc32Source: string;
  /** Zero of the NIC's clock on that of the process (`clockOriginNs`). */
  readonly clockOriginNs: bigint;
}

/**
 * A client of an adapter, as its driver has it, wherever that adapter lives: in this thread, in another one, or in a simulation.
 * The rings are memory of both in every case; this is what goes beside them.
 */
export interface AdapterHost extends Omit<AdapterFacts, 'clockOriginNs'> {
  readonly kind: HostKind | 'simulated';
  readonly doorbells: ArrayBufferLike;
  /** Ring of asynchronous events (`AsyncEventRing`). */
  readonly asyncEvents: ArrayBufferLike;
  /** Announces events of the connection manager (`createCmEventRing`). */
  readonly cmEvents: ArrayBufferLike;

  /** How many objects of each kind this client may have; default: as many as the device. */
  readonly limits?: ClientLimits;

  /** Executes a control verb. @throws CommandError when it is refused; then nothing has changed */
  execute<V extends Verb>(verb: V, argument: Argument<V>): Value<V>;

  /**
   * Says where the adapter finds memory, and keeps that alive until {@link release}, whoever else forgets it.
   *
   * @throws CommandError when it cannot
   */
  locate(bytes: Uint8Array): LocatedMemory;

  /** The adapter does not touch memory that was located by the very same view any more. */
  release(bytes: Uint8Array): void;

  ring(): void;

  /** A completion queue was looked at, and was not empty. */
  found(): void;

  /**
   * A completion queue was looked at, and was empty: the adapter may use the time. `seen` is the PRODUCER of the queue's
   * `ring` then; that may have changed when this returns.
   */
  idle(ring: Int32Array, seen: number): void;

  /**
   * As {@link idle}, for a caller that then awaits an event; absent where that is the same. Where time is virtual, none passes:
   * other programs may have something to do first.
   */
  idleAwaited?(): void;

  /** As `Provider.lookup`, where the adapter's host has names of its own. @throws (the promise rejects) VerbsError ENOENT */
  readonly lookup?: ((call: string, name: string, family: 4 | 6 | undefined) => Promise<readonly string[]>) | undefined;

  /** 32 random bits from the seed of a simulation; absent elsewhere. */
  readonly seededWord?: (() => number) | undefined;

  /** µs on the clock that timeouts are counted by. */
  nowUs(): number;

  /** The clock of the device in ns: what completions bear as their timestamps. */
  deviceClockNs(): bigint;

  /** Nanoseconds since 1970, or since the beginning of a simulation. */
  wallClockNs(): bigint;

  /**
   * Blocks until word `index` of `ring` differs from `seen`, or for about `timeoutUs`. May return early.
   *
   * @throws CommandError when nothing will come any more
   */
  wait(ring: Int32Array, index: number, seen: number, timeoutUs: number): void;

  /**
   * Calls `listener` from the event loop after a ring whose ASYNC_WAITERS is set got an event, and puts 0 back there.
   * Keeps the process alive until what is returned ends, or is not referenced.
   */
  listen(listener: () => void): Life;

  /**
   * Calls `action` from the event loop when so much time has passed on the clock of {@link nowUs}; absent where that is the
   * machine's own. The function returned takes it back.
   */
  after?(delayUs: number, action: () => void): () => void;

  /** As {@link after}, for what nobody waits for: where time is virtual, none passes because of it alone. */
  chore?(delayUs: number, action: () => void): () => void;

  /** Calls what is due in this turn of the event loop as a program of the adapter's host, unless that has crashed; absent where that is the machine. */
  run?(action: () => void): void;

  /**
   * Opens a UDP port of the host that the adapter is in; absent where that is the machine.
   *
   * @throws CommandError EADDRINUSE
   */
  openDatagramPort?(options: DatagramPortOptions): DatagramPort;

  /** Why the adapter has stopped by itself, or undefined while it has not. */
  readonly failure: string | undefined;

  /**
   * One more client of the same adapter, in the same thread.
   *
   * @param pid the process that it is for, where that is another; an adapter in a thread does not tell of it
   * @throws CommandError ENOMEM when there are too many, EINVAL when nobody has the adapter any more, EIO when it has stopped
   */
  another(pid?: number): AdapterHost;

  /** What other threads open the adapter by; absent where they cannot. */
  share?(): SharedDevice;

  /** Ends the client and all that it has; with the last one the adapter ends. Idempotent. */
  close(): void;
}

export interface LocatedMemory {
  /** Address of the first byte, by which work requests and peers name it. */
  readonly address: bigint;
  readonly memory: MemoryRef;
}
