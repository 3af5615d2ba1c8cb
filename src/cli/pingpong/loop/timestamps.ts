/** How far apart receive completions were, in ticks of the device's clock. */
export interface ClockCycles {
  readonly max: number;
  readonly min: number;
  readonly average: number;
}

/** Measures the time from one receive completion to the next, as `-t` asks for. */
export class Timestamps {
  readonly #mask: bigint;
  #before: bigint | undefined;
  #max = 0n;
  #min: bigint | undefined;
  #total = 0n;
  #count = 0;

  /** @param mask the bits that a timestamp has: `DeviceAttrEx.completionTimestampMask` */
  constructor(mask: bigint) {
    this.#mask = mask;
  }

  add(timestamp: bigint): void {
    if (this.#before !== undefined) {
      // The clock may have wrapped around.
      const delta = (timestamp - this.#before) & this.#mask;
      if (delta > this.#max) this.#max = delta;
      if (this.#min === undefined || delta < this.#min) this.#min = delta;
      this.#total += delta;
      this.#count += 1;
    }
    this.#before = timestamp;
  }

  /** Undefined before the second completion. */
  get result(): ClockCycles | undefined {
    if (this.#min === undefined) return undefined;
    return { max: Number(this.#max), min: Number(this.#min), average: Number(this.#total) / this.#count };
  }
}
