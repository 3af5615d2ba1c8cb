import { CommandError, type NicLimits } from '../../../device/nic/index.js';
import {
  type Context,
  type Cq,
  type Qp,
  Resource,
  type Srq,
  VerbsError,
  type XrcTargetQp,
  invalid,
  type Pd,
} from '../../../api/verbs/index.js';
import type { AdapterHost } from '../adapter-host.js';
import { type Argument, type EndVerb, limitsOf, type Value, type Verb } from '../../../device/adapter/index.js';
import { Doorbell } from './doorbell.js';
import { SpareRings } from './posting/spare-rings.js';

/** What a call of that C name throws when the adapter has thrown `error`. */
export function refusalOf(call: string, error: unknown): unknown {
  if (!(error instanceof CommandError)) return error;
  return new VerbsError(call, { errno: error.errno, message: error.message, advice: '' }, { cause: error });
}

/** A completion queue, as its channel counts the events that named it. */
export interface NotifyingCq extends Cq {
  readonly destroyed: boolean;
  /** Events that named this queue and were not acknowledged. */
  unacknowledged: number;
  /** Why no event will name it unless its program asks for one, as half a sentence; undefined where one may. */
  silence(): string | undefined;
}

/** A queue pair, as completions and events find it. */
export type KnownQp = (Qp | XrcTargetQp) & {
  /** Address of the peer, as explanations name it. */
  readonly peer: string | undefined;
};

/** A memory region, as those find its bytes who have a key or an address. */
export interface KnownMr {
  readonly pd: { readonly handle: number };
  /** The registered bytes that a work request with this region's L_Key names so, or undefined when they are not all here. */
  named(addr: bigint | number, lengthBytes: number): Uint8Array | undefined;
  /** The registered bytes at an address, or undefined when they are not all of this region. */
  at(addr: bigint | number, lengthBytes: number): Uint8Array | undefined;
}

/** A memory window, as whoever takes the memory from under it closes it. */
export interface KnownMw {
  readonly pd: { readonly handle: number };
  /** Closes it in the adapter: what it may be bound to is gone. */
  forfeit(): void;
}

/**
 * An open device as its objects need it: the way to the adapter, and what else lives on it. It makes none of them, so that
 * they can lean on it; SoftContext, above them all, does.
 */
export abstract class ContextBase extends Resource {
  readonly address: string;
  readonly crc32Source: string;
  readonly limits: NicLimits;
  readonly doorbell: Doorbell;
  readonly spareRings: SpareRings;
  /** What lives, by the numbers that the NIC calls it. */
  readonly queues = new Map<number, NotifyingCq>();
  readonly pairs = new Map<number, KnownQp>();
  readonly sharedQueues = new Map<number, Srq>();
  readonly regions = new Map<number, KnownMr>();
  readonly windows = new Set<KnownMw>();
  /** Who wants to know when the device is closed, and has no other way to learn it. */
  readonly closeListeners = new Set<() => void>();

  /** Ends of objects that were begun and did not come back: calls that were interrupted. */
  readonly #ending = new Set<string>();
  /** The last end of an object that came back. */
  #ended = '';

  protected constructor(readonly adapter: AdapterHost) {
    super('ibv_close_device', []);
    this.address = adapter.address;
    this.crc32Source = adapter.crc32Source;
    this.limits = limitsOf(adapter.limits);
    this.spareRings = new SpareRings(this.hasThread);
    this.doorbell = new Doorbell(adapter.doorbells, () => adapter.ring());
  }

  get hasThread(): boolean {
    return this.adapter.kind === 'thread';
  }

  /** Has the adapter execute a control verb for the call of that C name. @throws VerbsError when it is refused */
  command<V extends Verb>(call: string, verb: V, argument: Argument<V>): Value<V> {
    return this.attempt(call, () => this.adapter.execute(verb, argument));
  }

  /**
   * As {@link command}, for a verb that ends an object. An adapter that has stopped holds none any more; nor does one have
   * what a call has ended that was interrupted before its program could learn that.
   */
  endCommand(call: string, verb: EndVerb, handle: number): void {
    if (this.adapter.failure !== undefined) return;
    const end = `${verb} ${handle}`;
    const again = this.#ended === end || this.#ending.has(end);
    this.#ending.add(end);
    this.#ended = '';
    try {
      this.command(call, verb, handle);
      this.#ended = end;
    } catch (error) {
      if (!(again && error instanceof VerbsError && error.errno === 'EINVAL')) throw error;
    } finally {
      this.#ending.delete(end);
    }
  }

  /** Gives a refusal of the adapter the shape that programs know. */
  attempt<T>(call: string, action: () => T): T {
    this.assertAlive(call);
    try {
      return action();
    } catch (error) {
      throw refusalOf(call, error);
    }
  }

  /** @throws VerbsError EINVAL when the device was closed */
  requireAlive(call: string): void {
    this.assertAlive(call);
  }

  /** Closes all windows of a protection domain: the memory below one of them is gone. */
  forfeitWindows(pd: number): void {
    for (const window of this.windows) if (window.pd.handle === pd) window.forfeit();
  }

  /**
   * Memory of the program that a work request names, when it is registered: as the region of that L_Key has it named, else
   * by its address.
   */
  memoryAt(addr: bigint | number, lengthBytes: number, lkey = 0): Uint8Array | undefined {
    const named = this.regions.get(lkey)?.named(addr, lengthBytes);
    if (named !== undefined) return named;
    for (const region of this.regions.values()) {
      const bytes = region.at(Number(addr), lengthBytes);
      if (bytes !== undefined) return bytes;
    }
    return undefined;
  }
}

export type OpenDevice = ContextBase & Context;

/** A protection domain as what is made in it needs it. SoftPd makes that, and lies above it. */
export abstract class PdBase extends Resource {
  /**
   * @param handle by which the NIC knows it
   * @param uses what it cannot exist without
   */
  protected constructor(
    readonly context: OpenDevice,
    readonly handle: number,
    uses: readonly Resource[],
    protected readonly label: string,
  ) {
    super('ibv_dealloc_pd', uses);
  }
}

/** A protection domain, as its objects have it. */
export type OwnPd = PdBase & Pd;

/** The domain as one of ours. @throws VerbsError EINVAL when it is not a living one of the context */
export function domainOf(call: string, context: OpenDevice, pd: Pd): OwnPd {
  if (pd instanceof PdBase && pd.context === context && !pd.destroyed) return pd;
  throw new VerbsError(call, invalid('pd is not a live protection domain of this context', 'Make one by allocPd'));
}
