/** Below that a look more or less makes no difference. */
const LEAST_US = 10;

/**
 * How long it is worth to look again and again for what is awaited before one sleeps. Learned, as a hypervisor learns it of its
 * guests (KVM's halt polling): who was woken soon would have done better to look a little longer, and who slept for long has
 * looked in vain.
 */
export class SpinTime {
  #us: number;

  /** @param mostUs it is never longer; 0 for not at all */
  constructor(private readonly mostUs: number) {
    this.#us = mostUs;
  }

  /** For so long after the last thing that happened. */
  get us(): number {
    return this.#us;
  }

  /** What came has ended a sleep, so long after the last thing that had happened. */
  woken(afterUs: number): void {
    if (afterUs <= this.mostUs) this.#us = Math.min(this.mostUs, Math.max(this.#us, 2 * afterUs));
    else this.#us = this.#us < LEAST_US ? 0 : this.#us / 2;
  }
}
