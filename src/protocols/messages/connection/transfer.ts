import { type Lease, Pending, type SendQueue } from '../../core/index.js';
import type { Qp } from '../../../api/verbs/index.js';
import type { RemoteBuffer } from '../memory/remote-buffer.js';
import type { Borrowed, Place } from './borrowed.js';
import { goneError, isGone, type Ordered, type Poster } from './operation.js';

/** What one request moves at most: after a program has given up, what is under way still goes on. */
const PIECE_BYTES = 64 * 1024;

/** A transfer among others, whatever it gives. */
export interface QueuedTransfer extends Poster, Ordered {
  readonly call: string;
  readonly isPosted: boolean;
  /** Whether memory that it is to go by is not there any more. */
  readonly isLost: boolean;
  /** Bytes of the pool's buffer that the next piece goes by; 0 where it needs none. */
  readonly pooledBytes: number;
  /**
   * Posts the next piece, by way of a buffer of that size, if it needs one. There must be room.
   *
   * @throws VerbsError when the device is gone
   */
  post(sends: SendQueue<Poster>, lease: Lease | undefined): void;
}

/** Which bytes of the peer's a transfer is about. */
export interface RemotePiece {
  readonly remote: RemoteBuffer;
  readonly offset: number;
  readonly byteLength: number;
}

/**
 * A read, a write or an atomic on the peer's memory, cut into pieces. They go by buffers of the pool, so that the program's memory is
 * touched in its calls and in completions only; or straight, by memory that was borrowed, and that is given back as soon as
 * the program is told how it ended. So it is never touched once the program has given up.
 */
export abstract class Transfer<T> extends Pending<T> implements QueuedTransfer {
  readonly #borrowed: Borrowed | undefined;
  #postedBytes = 0;
  #endedBytes = 0;

  constructor(
    call: string,
    readonly order: number,
    protected readonly piece: RemotePiece,
    private readonly drop: (transfer: QueuedTransfer) => void,
    borrowed?: Borrowed,
  ) {
    super(call);
    this.#borrowed = borrowed;
  }

  get isPosted(): boolean {
    return this.#postedBytes === this.piece.byteLength;
  }

  abstract readonly isLost: boolean;

  get pooledBytes(): number {
    return this.#borrowed === undefined ? this.#nextBytes : 0;
  }

  post(sends: SendQueue<Poster>, lease: Lease | undefined): void {
    const { remote, offset: from } = this.piece;
    const offset = this.#postedBytes;
    const byteLength = this.#nextBytes;
    if (lease !== undefined) this.fill(lease, offset, byteLength);
    const qp = sends.begin(this, lease);
    if (qp === undefined) return;
    this.describe(qp, remote.key, remote.address + BigInt(from + offset));
    const { lkey, addr } = this.#placeOf(lease, offset);
    qp.wrSetSge(lkey, addr, byteLength);
    this.#postedBytes += byteLength;
    sends.post();
  }

  onDone(lease: Lease | undefined): void {
    const offset = this.#endedBytes;
    const byteLength = this.#endNext();
    if (!this.isSettled) {
      if (this.isLost) this.reject(goneError(this.call));
      else if (lease !== undefined) this.onPiece(lease, offset, byteLength);
      if (this.#endedBytes === this.piece.byteLength) this.resolve(this.result());
    }
    this.#returnIfDone();
  }

  onFailed(error: Error): void {
    this.#endNext();
    this.reject(error);
    this.#returnIfDone();
  }

  override reject(error: unknown): void {
    if (!this.isSettled) this.#borrowed?.takeBack(this.#endedBytes, this.#postedBytes);
    super.reject(error);
    this.#returnIfDone();
  }

  protected onGivenUp(): void {
    this.drop(this);
  }

  /** Puts what a piece carries into the buffer that it goes by. */
  protected abstract fill(lease: Lease, offset: number, byteLength: number): void;

  /** Says to the queue pair what a piece does. */
  protected abstract describe(qp: Qp, rkey: number, address: bigint): void;

  protected abstract onPiece(lease: Lease, offset: number, byteLength: number): void;

  protected abstract result(): T;

  get #nextBytes(): number {
    return this.#bytesAt(this.#postedBytes);
  }

  #bytesAt(offset: number): number {
    return Math.min(PIECE_BYTES, this.piece.byteLength - offset);
  }

  /** The oldest piece in flight has ended: pieces end in order. @returns its length */
  #endNext(): number {
    const byteLength = this.#bytesAt(this.#endedBytes);
    this.#endedBytes += byteLength;
    return byteLength;
  }

  #placeOf(lease: Lease | undefined, offset: number): Place {
    const place = lease ?? this.#borrowed?.at(offset);
    if (place === undefined) throw new Error('verbena: internal error: a transfer has no memory');
    return place;
  }

  /** No request uses what was borrowed any more, and none will. */
  #returnIfDone(): void {
    if (this.isSettled && this.#endedBytes === this.#postedBytes) this.#borrowed?.giveBack();
  }
}

/** Writes bytes into the peer's memory. */
export class WriteTransfer extends Transfer<void> {
  constructor(
    call: string,
    order: number,
    piece: RemotePiece,
    private readonly bytes: Uint8Array,
    drop: (transfer: QueuedTransfer) => void,
    borrowed: Borrowed | undefined,
  ) {
    super(call, order, piece, drop, borrowed);
  }

  get isLost(): boolean {
    return !this.isPosted && isGone(this.bytes, this.piece.byteLength);
  }

  protected fill(lease: Lease, offset: number, byteLength: number): void {
    lease.bytes.set(this.bytes.subarray(offset, offset + byteLength));
  }

  protected describe(qp: Qp, rkey: number, address: bigint): void {
    qp.wrRdmaWrite(rkey, address);
  }

  protected onPiece(): void {
    // It is at the peer.
  }

  protected result(): void {
    // There is nothing to say.
  }
}

/** Reads the peer's memory into the program's. */
export class ReadTransfer extends Transfer<Uint8Array> {
  constructor(
    call: string,
    order: number,
    piece: RemotePiece,
    private readonly into: Uint8Array,
    drop: (transfer: QueuedTransfer) => void,
    borrowed: Borrowed | undefined,
  ) {
    super(call, order, piece, drop, borrowed);
  }

  get isLost(): boolean {
    return isGone(this.into, this.piece.byteLength);
  }

  protected fill(): void {
    // The peer does.
  }

  protected describe(qp: Qp, rkey: number, address: bigint): void {
    qp.wrRdmaRead(rkey, address);
  }

  protected onPiece(lease: Lease, offset: number, byteLength: number): void {
    this.into.set(lease.bytes.subarray(0, byteLength), offset);
  }

  protected result(): Uint8Array {
    return this.into;
  }
}

/** What an atomic does to 8 bytes. */
export type Atomic =
  | { readonly does: 'add'; readonly add: bigint }
  | { readonly does: 'swap'; readonly compare: bigint; readonly swap: bigint };

/** Bytes that an atomic works on. */
export const ATOMIC_BYTES = 8;
const word = new BigUint64Array(1);
const wordBytes = new Uint8Array(word.buffer);

/** Changes 8 bytes of the peer's memory at once, and tells what was there before. */
export class AtomicTransfer extends Transfer<bigint> {
  /** It names no memory of the program's. */
  readonly isLost = false;
  #before = 0n;

  constructor(
    call: string,
    order: number,
    piece: RemotePiece,
    private readonly atomic: Atomic,
    drop: (transfer: QueuedTransfer) => void,
  ) {
    super(call, order, piece, drop);
  }

  protected fill(): void {
    // The peer does.
  }

  protected describe(qp: Qp, rkey: number, address: bigint): void {
    const { atomic } = this;
    if (atomic.does === 'add') qp.wrAtomicFetchAdd(rkey, address, atomic.add);
    else qp.wrAtomicCmpSwp(rkey, address, atomic.compare, atomic.swap);
  }

  protected onPiece(lease: Lease): void {
    // As it lies in memory, which is how adapters return it.
    wordBytes.set(lease.bytes.subarray(0, ATOMIC_BYTES));
    this.#before = word[0];
  }

  protected result(): bigint {
    return this.#before;
  }
}
