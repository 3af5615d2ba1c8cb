import { AccessFlags } from '../../../../device/ibta/index.js';
import { alloc } from '../../../../api/provider/index.js';
import { VerbsError } from '../../../../api/verbs/index.js';
import type { Engine, Registration } from '../../../core/index.js';
import { type Access, type Body, lengthOf, piecesOf, putBody } from '../../wire/index.js';
import type { Exposure, InUse } from '../link.js';
import { BodySlots, type Slot } from './body-slots.js';
import { encodeToken, type RemotePlace } from './frame.js';

/** A piece of registered memory, as requests of this end name it. */
export interface LocalPiece {
  readonly addr: number;
  readonly lkey: number;
  readonly length: number;
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

  /** It lies where the peer has written it. */
  land(): void {
    // There is nothing to be done.
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

/** Memory of the program's, as the peer sees it: by a slot. */
class InSlot implements Exposure {
  #isReleased = false;
  #isTaken = false;

  constructor(
    private readonly slots: BodySlots,
    private readonly slot: Slot,
    private readonly byteLength: number,
    private readonly into: Uint8Array | undefined,
  ) {}

  get place(): RemotePlace {
    return this.slot.place(this.byteLength);
  }

  get token(): Uint8Array {
    return encodeToken(this.place);
  }

  land(byteLength: number): void {
    if (!this.#isTaken && !this.#isReleased) this.into?.set(this.slot.bytes(byteLength));
  }

  takeBack(): void {
    this.#isTaken = true;
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.slots.giveBack(this.slot);
  }
}

/** Memory that this end's requests read or write. */
export interface Borrowed extends InUse {
  readonly pieces: readonly LocalPiece[];
  /** Puts what was READ where it belongs, where that is elsewhere. */
  land(): void;
  /** No request uses it any more. Idempotent. */
  release(): void;
}

/** Pieces of a body that the peer READs. */
export class Offer implements InUse {
  constructor(private readonly shared: readonly (Shared | InSlot)[]) {}

  get places(): readonly RemotePlace[] {
    return this.shared.map(({ place }) => place);
  }

  takeBack(): void {
    for (const shared of this.shared) shared.takeBack();
  }

  release(): void {
    for (const shared of this.shared) shared.release();
  }
}

/** The memory of bodies that go by RDMA. All of it that peers may reach ends with the link, and not before a peer is done with it. */
export class BodyMemory {
  readonly #shared = new Set<Shared>();
  readonly #slots: BodySlots;
  readonly #forget = (shared: Shared): void => {
    this.#shared.delete(shared);
  };

  constructor(private readonly engine: Engine) {
    this.#slots = new BodySlots(engine);
  }

  /** Lets the peer READ a body: a copy of it where it is short, and otherwise where it lies, or else a copy. @throws VerbsError ENOMEM, or when the device is gone */
  offer(body: Body): Offer {
    const bodyBytes = lengthOf(body);
    const slot = this.#slots.lend(bodyBytes);
    if (slot !== undefined) {
      putBody(body, slot.bytes(bodyBytes), 0);
      return new Offer([new InSlot(this.#slots, slot, bodyBytes, undefined)]);
    }
    const shared: Shared[] = [];
    for (const piece of piecesOf(body)) {
      const place = this.#share(piece, AccessFlags.REMOTE_READ);
      if (place === undefined) break;
      shared.push(place);
    }
    if (shared.length === piecesOf(body).length) return new Offer(shared);
    for (const place of shared) place.release();
    return new Offer([this.#require(this.#share(copyFor(body), AccessFlags.REMOTE_READ))]);
  }

  /** Lets the peer use memory as it likes; undefined where this memory cannot be registered. */
  grant(bytes: Uint8Array, { read, write }: Access): Shared | undefined {
    const writing = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE;
    return this.#share(bytes, (read ? AccessFlags.REMOTE_READ : 0) | (write ? writing : 0));
  }

  /** Lets the peer write; undefined where this memory cannot be registered. */
  expose(bytes: Uint8Array): Exposure | undefined {
    const { byteLength } = bytes;
    const slot = this.#slots.lend(byteLength);
    if (slot !== undefined) return new InSlot(this.#slots, slot, byteLength, bytes);
    return this.#share(bytes, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
  }

  /** A body that this end WRITEs to the peer. @throws VerbsError as {@link offer} */
  source(body: Body): Borrowed {
    return new Loans(this.#loans(body, (piece) => this.#borrow(copyFor(piece), undefined, false)));
  }

  /** Memory that this end READs into. @throws VerbsError as {@link offer} */
  destination(landing: Body): Borrowed {
    return new Loans(this.#loans(landing, (piece) => this.#borrow(alloc(piece.byteLength), piece, false)));
  }

  /** The link has ended: peers reach nothing any more. */
  end(): void {
    for (const shared of this.#shared) shared.release();
    this.#slots.end();
  }

  #loans(body: Body, instead: (piece: Uint8Array) => Loan | undefined): readonly Loan[] {
    const loans: Loan[] = [];
    try {
      for (const piece of piecesOf(body)) loans.push(this.#borrow(piece, undefined) ?? this.#require(instead(piece)));
    } catch (error) {
      for (const loan of loans) loan.release();
      throw error;
    }
    return loans;
  }

  #require<T>(memory: T | undefined): T {
    if (memory !== undefined) return memory;
    const message = 'the device has no room for another region';
    throw new VerbsError('xio', { errno: 'ENOMEM', message, advice: '' });
  }

  #share(bytes: Uint8Array, access: number): Shared | undefined {
    try {
      const shared = new Shared(this.engine.registrations.remote(bytes, access), bytes.byteLength, this.#forget);
      this.#shared.add(shared);
      return shared;
    } catch (error) {
      // Memory that cannot be kept in place, and a device that has no key left.
      if (!(error instanceof VerbsError)) throw error;
      return undefined;
    }
  }

  #borrow(bytes: Uint8Array, landing: Uint8Array | undefined, isKept = true): Loan | undefined {
    const registration = this.engine.registrations.local(bytes, isKept);
    return registration && new Loan(registration, bytes, landing);
  }
}

/** A copy where adapters reach it. */
function copyFor(body: Body): Uint8Array {
  const copy = alloc(lengthOf(body));
  putBody(body, copy, 0);
  return copy;
}

class Loans implements Borrowed {
  constructor(readonly pieces: readonly Loan[]) {}

  land(): void {
    for (const loan of this.pieces) loan.land();
  }

  takeBack(): void {
    for (const loan of this.pieces) loan.takeBack();
  }

  release(): void {
    for (const loan of this.pieces) loan.release();
  }
}

class Loan implements LocalPiece {
  readonly addr: number;
  readonly lkey: number;
  readonly length: number;
  #isReleased = false;
  #isTaken = false;

  constructor(
    private readonly registration: Registration,
    private readonly bytes: Uint8Array,
    private readonly landing: Uint8Array | undefined,
  ) {
    this.addr = registration.addr;
    this.lkey = registration.lkey;
    this.length = bytes.byteLength;
  }

  land(): void {
    const { landing, length } = this;
    // A program may have transferred its memory to another thread.
    if (!this.#isTaken && landing?.byteLength === length) landing.set(this.bytes);
  }

  takeBack(): void {
    if (this.#isReleased || this.#isTaken) return;
    this.#isTaken = true;
    // A copy is nobody's memory.
    if (this.landing === undefined) this.registration.redirect(0, this.length);
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.registration.release();
  }
}
