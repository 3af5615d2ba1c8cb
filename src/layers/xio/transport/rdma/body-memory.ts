import { AccessFlags } from '../../../../device/ibta/index.js';
import { alloc } from '../../../../api/provider/index.js';
import { VerbsError } from '../../../../api/verbs/index.js';
import type { Engine, Registration } from '../../../engine/index.js';
import type { Exposure, Held } from '../link.js';
import { encodeToken, type RemotePlace } from './frame.js';

/** A piece of registered memory, as requests of this end name it. */
export interface LocalPiece {
  readonly addr: number;
  readonly lkey: number;
}

/** Memory within the peer's reach. */
export class Shared implements Exposure {
  #isReleased = false;
  #isTaken = false;

  constructor(
    private readonly registration: Registration,
    private readonly byteLength: number,
    private readonly onRelease: (shared: Shared) => void,
  ) {}

  get place(): RemotePlace {
    const { mr, addr } = this.registration;
    return { address: BigInt(addr), rkey: mr.rkey, length: this.byteLength };
  }

  get token(): Uint8Array {
    return encodeToken(this.place);
  }

  takeBack(): void {
    if (this.#isReleased || this.#isTaken) return;
    this.#isTaken = true;
    this.registration.redirect(0, this.byteLength);
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.registration.release();
    this.onRelease(this);
  }
}

/** Memory that this end's requests read or write. */
export interface Borrowed extends LocalPiece, Held {
  /** Puts what was READ where it belongs, where that is elsewhere. */
  land(): void;
}

/** The memory of bodies that go by RDMA. All of it that peers may reach ends with the link, and not before a peer is done with it. */
export class BodyMemory {
  readonly #shared = new Set<Shared>();
  readonly #forget = (shared: Shared): void => {
    this.#shared.delete(shared);
  };

  constructor(private readonly engine: Engine) {}

  /** Lets the peer READ a body: where it lies, or else a copy of it. @throws VerbsError ENOMEM, or when the device is gone */
  offer(body: Uint8Array): Shared {
    const shared = this.#share(body, AccessFlags.REMOTE_READ);
    if (shared !== undefined) return shared;
    const copy = alloc(body.length);
    copy.set(body);
    return this.#require(this.#share(copy, AccessFlags.REMOTE_READ));
  }

  /** Lets the peer write; undefined where this memory cannot be registered. */
  expose(bytes: Uint8Array): Shared | undefined {
    return this.#share(bytes, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
  }

  /** A body that this end WRITEs to the peer. @throws VerbsError as {@link offer} */
  source(body: Uint8Array): Borrowed {
    const own = this.#borrow(body, undefined);
    if (own !== undefined) return own;
    const copy = alloc(body.length);
    copy.set(body);
    return this.#require(this.#borrow(copy, undefined, false));
  }

  /** Memory that this end READs into. @throws VerbsError as {@link offer} */
  destination(landing: Uint8Array): Borrowed {
    return this.#borrow(landing, undefined) ?? this.#require(this.#borrow(alloc(landing.length), landing, false));
  }

  /** The link has ended: peers reach nothing any more. */
  end(): void {
    for (const shared of this.#shared) shared.release();
  }

  #require<T>(memory: T | undefined): T {
    if (memory !== undefined) return memory;
    const message = 'the device has no room for another region';
    throw new VerbsError('xio', { errno: 'ENOMEM', message, advice: '' });
  }

  #share(bytes: Uint8Array, access: number): Shared | undefined {
    try {
      const shared = new Shared(this.engine.registrations.remote(bytes, access), bytes.length, this.#forget);
      this.#shared.add(shared);
      return shared;
    } catch (error) {
      // Memory that cannot be kept in place, and a device that has no key left.
      if (!(error instanceof VerbsError)) throw error;
      return undefined;
    }
  }

  #borrow(bytes: Uint8Array, landing: Uint8Array | undefined, isKept = true): Borrowed | undefined {
    const registration = this.engine.registrations.local(bytes, isKept);
    return registration && new Loan(registration, bytes, landing);
  }
}

class Loan implements Borrowed {
  readonly addr: number;
  readonly lkey: number;
  #isReleased = false;
  #isTaken = false;

  constructor(
    private readonly registration: Registration,
    private readonly bytes: Uint8Array,
    private readonly landing: Uint8Array | undefined,
  ) {
    this.addr = registration.addr;
    this.lkey = registration.lkey;
  }

  land(): void {
    if (!this.#isTaken) this.landing?.set(this.bytes);
  }

  takeBack(): void {
    if (this.#isReleased || this.#isTaken) return;
    this.#isTaken = true;
    // A copy is nobody's memory.
    if (this.landing === undefined) this.registration.redirect(0, this.bytes.length);
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.registration.release();
  }
}
