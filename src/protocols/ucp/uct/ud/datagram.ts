import type { Lease } from '../../../core/index.js';
import { type UcsStatus } from '../../wire/index.js';
import type { Completion, LocalPlace } from '../endpoint.js';
import type { Afterwards } from '../afterwards.js';
import type { Addressee } from './addressee.js';

/** A datagram that was sent, and is kept for as long as it may have to be sent again. */
export class Datagram implements Completion {
  /** What is to be told when the adapter has sent it. */
  readonly afterwards: Afterwards = { completion: this };
  isPosted = false;
  #outcome: UcsStatus | undefined;

  /**
   * @param lease has the header, and whatever was copied
   * @param length bytes of that
   * @param payload what follows from where it lies
   */
  constructor(
    readonly to: Addressee,
    readonly lease: Lease,
    readonly length: number,
    readonly payload: LocalPlace | undefined,
    private readonly completion: Completion | undefined,
  ) {}

  posted(): void {
    this.isPosted = true;
    this.to.sent();
  }

  /** The adapter has it no more. */
  onComplete(): void {
    this.isPosted = false;
    this.to.left();
    this.#tidy();
  }

  /** It is never sent again. Whoever is to be told is told once the adapter does not touch it either. */
  end(outcome: UcsStatus): void {
    this.#outcome = outcome;
    this.#tidy();
  }

  #tidy(): void {
    const outcome = this.#outcome;
    if (outcome === undefined || this.isPosted) return;
    this.lease.release();
    this.completion?.onComplete(outcome);
  }
}

/** Those of an endpoint that are under way, by their PSNs. */
export class Datagrams {
  readonly #places: (Datagram | undefined)[];

  /** @param most that are under way at a time */
  constructor(most: number) {
    // PSNs wrap around at a power of two.
    const size = 2 ** Math.ceil(Math.log2(most));
    this.#places = Array.from({ length: size }, () => undefined);
  }

  get(psn: number): Datagram | undefined {
    return this.#places[psn & (this.#places.length - 1)];
  }

  set(psn: number, datagram: Datagram): void {
    this.#places[psn & (this.#places.length - 1)] = datagram;
  }

  take(psn: number): Datagram | undefined {
    const datagram = this.get(psn);
    this.#places[psn & (this.#places.length - 1)] = undefined;
    return datagram;
  }
}
