import { assert } from '../../../device/ibta/index.js';
import type { GpuSession, GpuStaging } from '../driver/gpu-driver.js';

/** What a slot holds: as much as any copy of the NIC has. */
export const SLOT_BYTES = 128 * 1024;
/** Slots that are taken from the driver at once: that takes long. */
const SLOTS_PER_BLOCK = 8;
/** 8 MiB in all. */
const MAX_SLOTS = 64;

/** A piece of staging memory, for one copy at a time. */
export interface Slot {
  readonly staging: GpuStaging;
  readonly at: number;
}

/** Staging memory of a device. A slot is handed out again only when it was given back, which nobody does before the device has done with it. */
export class StagingPool {
  readonly #blocks: GpuStaging[] = [];
  readonly #free: Slot[] = [];
  #slots = 0;
  #lost = 0;

  constructor(
    private readonly session: GpuSession,
    private readonly maxSlots: number = MAX_SLOTS,
  ) {}

  /** Slots that were taken and not given back. */
  get inUse(): number {
    return this.#slots - this.#free.length;
  }

  /** Whether no slot will ever be free again. */
  get isExhausted(): boolean {
    return this.#lost >= this.maxSlots;
  }

  /** Undefined when as many are in use as there may be. @throws GpuFailure */
  take(): Slot | undefined {
    const slot = this.#free.pop();
    if (slot !== undefined || this.#slots >= this.maxSlots) return slot;
    const count = Math.min(SLOTS_PER_BLOCK, this.maxSlots - this.#slots);
    const staging = this.session.allocStaging(count * SLOT_BYTES);
    this.#blocks.push(staging);
    this.#slots += count;
    for (let i = count - 1; i >= 0; i -= 1) this.#free.push({ staging, at: i * SLOT_BYTES });
    return this.#free.pop();
  }

  give(slot: Slot): void {
    this.#free.push(slot);
  }

  /** Nobody knows what the device still does with it: it is never used again, nor freed. */
  lose(): void {
    this.#lost += 1;
  }

  /** All slots were given back, or are lost. */
  close(): void {
    assert(this.inUse === this.#lost, 'staging is freed that is in use');
    if (this.#lost === 0) for (const staging of this.#blocks) this.session.freeStaging(staging);
    this.#blocks.length = 0;
    this.#free.length = 0;
    this.#slots = 0;
  }
}
