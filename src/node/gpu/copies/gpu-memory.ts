import { type AtomicOperation, type Copy, type ForeignMemory, LATER } from '../../../device/nic/index.js';
import type { GpuPlace } from '../driver/gpu-driver.js';
import type { CopyMachine } from './copy-machine.js';

/**
 * A buffer of a GPU as memory of the NIC. Each copy goes on by itself, and fails as a whole or not at all, since no library
 * says how far one got.
 *
 * Atomics are the device's own: one of them excludes every other and all that kernels change by atomics of the device. Copies
 * of the NIC do not come between either: they follow each other in one queue.
 */
export class GpuMemory implements ForeignMemory {
  readonly isOfDevice = true;
  #open = true;

  /** @param closed called once when it is no memory of a region any more */
  constructor(
    private readonly machine: CopyMachine,
    private readonly place: Pick<GpuPlace, 'buffer' | 'atomics' | 'lengthBytes'>,
    private readonly closed: () => void = () => undefined,
  ) {}

  get lengthBytes(): number {
    return this.place.lengthBytes;
  }

  get progress(): CopyMachine {
    return this.machine;
  }

  get failure(): number {
    return this.machine.lastFailure?.status ?? 0;
  }

  read(offset: number, target: Uint8Array, targetOffset: number, lengthBytes: number, copy: Copy): number {
    return this.machine.read(this.place.buffer, offset, target, targetOffset, lengthBytes, copy) ? LATER : 0;
  }

  write(offset: number, source: Uint8Array, sourceOffset: number, lengthBytes: number, copy: Copy): number {
    return this.machine.write(this.place.buffer, offset, source, sourceOffset, lengthBytes, copy) ? LATER : 0;
  }

  atomic(offset: number, operation: AtomicOperation, found: Uint8Array, copy: Copy): number {
    const { atomics, buffer } = this.place;
    return this.machine.atomic(atomics, buffer, offset, operation, found, copy) ? LATER : 0;
  }

  cancel(copy: Copy): void {
    this.machine.cancel(copy);
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.closed();
  }
}
