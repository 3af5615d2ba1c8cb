import {
  type AtomicOperation,
  atomicResult,
  type Copy,
  type ForeignMemory,
  LATER,
} from '../../src/device/nic/index.js';

/** How memory behaves. What is absent does not happen. */
export interface Manner {
  /** µs until a copy has finished, asked for at each; 0 finishes it within the call. */
  readonly delayUs?: () => number;
  /** What its device says of what went wrong; undefined where a byte that cannot be copied is not there. */
  readonly failure?: number;
  /** The first byte of the range of a copy that is not there, counted from where the copy begins; asked for at each. */
  readonly faultAt?: (kind: 'read' | 'write' | 'atomic', offset: number, lengthBytes: number) => number;
}

/** A copy that finishes later. */
interface Late {
  readonly dueUs: number;
  readonly finish: () => void;
}

/** What was done to the memory, in the order in which it took effect. */
export interface Access {
  readonly kind: 'read' | 'write' | 'atomic' | 'cancel';
  readonly offset: number;
  readonly lengthBytes: number;
}

/**
 * Foreign memory in virtual time: bytes of the test that the NIC gets by copies only, at once or later, and which may be
 * missing anywhere. A copy takes effect when it finishes: nothing says that it did so earlier, or later.
 */
export class SlowMemory implements ForeignMemory {
  readonly lengthBytes: number;
  readonly isOfDevice: boolean;
  readonly failure: number;
  readonly accesses: Access[] = [];
  #nowUs = 0;
  readonly #late = new Map<Copy, Late>();

  /** @param onLate called when a copy is begun that finishes later */
  constructor(
    readonly bytes: Uint8Array,
    private readonly manner: Manner = {},
    private readonly onLate: (dueUs: number) => void = () => undefined,
  ) {
    this.lengthBytes = bytes.length;
    this.isOfDevice = manner.failure !== undefined;
    this.failure = manner.failure ?? 0;
  }

  get pending(): number {
    return this.#late.size;
  }

  /** When the next copy finishes. */
  get nextUs(): number {
    return Math.min(Infinity, ...[...this.#late.values()].map(({ dueUs }) => dueUs));
  }

  advanceTo(nowUs: number): void {
    this.#nowUs = Math.max(this.#nowUs, nowUs);
    for (const [copy, late] of [...this.#late].sort(([, a], [, b]) => a.dueUs - b.dueUs)) {
      if (late.dueUs > this.#nowUs || !this.#late.delete(copy)) continue;
      late.finish();
    }
  }

  read(offset: number, target: Uint8Array, targetOffset: number, lengthBytes: number, copy: Copy): number {
    return this.#carryOut('read', offset, lengthBytes, copy, (whole) => {
      target.set(this.bytes.subarray(offset, offset + whole), targetOffset);
    });
  }

  write(offset: number, source: Uint8Array, sourceOffset: number, lengthBytes: number, copy: Copy): number {
    return this.#carryOut('write', offset, lengthBytes, copy, (whole) => {
      this.bytes.set(source.subarray(sourceOffset, sourceOffset + whole), offset);
    });
  }

  atomic(offset: number, operation: AtomicOperation, found: Uint8Array, copy: Copy): number {
    return this.#carryOut('atomic', offset, 8, copy, (whole) => {
      if (whole < 8) return;
      const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + offset, 8);
      found.set(this.bytes.subarray(offset, offset + 8));
      view.setBigUint64(0, atomicResult(operation, view.getBigUint64(0, true)), true);
    });
  }

  cancel(copy: Copy): void {
    if (!this.#late.delete(copy)) throw new Error('a copy is given up that is not under way');
    this.accesses.push({ kind: 'cancel', offset: 0, lengthBytes: 0 });
  }

  #carryOut(
    kind: 'read' | 'write' | 'atomic',
    offset: number,
    lengthBytes: number,
    copy: Copy,
    act: (whole: number) => void,
  ): number {
    if (offset < 0 || lengthBytes <= 0 || offset + lengthBytes > this.lengthBytes)
      throw new Error(`${lengthBytes} bytes at ${offset} are not inside of ${this.lengthBytes}`);
    const delayUs = this.manner.delayUs?.() ?? 0;
    const run = (): number => {
      const whole = Math.min(lengthBytes, this.manner.faultAt?.(kind, offset, lengthBytes) ?? Infinity);
      act(whole);
      this.accesses.push({ kind, offset, lengthBytes: whole });
      return whole;
    };
    if (delayUs <= 0) return run();
    const dueUs = this.#nowUs + delayUs;
    this.#late.set(copy, { dueUs, finish: () => copy.finish(run()) });
    this.onLate(dueUs);
    return LATER;
  }
}
