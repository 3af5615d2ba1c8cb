import type { Registration, RegistrationCache } from '../../core/index.js';

/** From how many bytes on to register memory costs less than to copy it. */
const WORTH_BYTES = 32 * 1024;

/** Where a piece lies, as requests name it. */
export interface Place {
  readonly addr: number;
  readonly lkey: number;
}

/** Memory of the program's that requests use where it lies, for the time of a transfer. */
export class Borrowed {
  #isHeld = true;

  private constructor(private readonly registration: Registration) {}

  /**
   * @param isOwn whether the program has not seen it yet
   * @returns undefined where copies are the better way, or the only one
   * @throws VerbsError when the device is gone
   */
  static from(registrations: RegistrationCache, bytes: Uint8Array, isOwn: boolean): Borrowed | undefined {
    if (bytes.length < WORTH_BYTES) return undefined;
    const registration = registrations.local(bytes, !isOwn);
    return registration && new Borrowed(registration);
  }

  at(offset: number): Place {
    const { addr, lkey } = this.registration;
    return { addr: addr + offset, lkey };
  }

  /** Requests are under way that use `from` to `to`, if any: they do not touch it any more. */
  takeBack(from: number, to: number): void {
    if (this.#isHeld && from < to) this.registration.redirect(from, to - from);
  }

  /** No request uses it any more. Idempotent. */
  giveBack(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.registration.release();
  }
}
