import type { DeviceMemory } from '../../../api/verbs/index.js';
import type { GpuKind } from '../driver/gpu-driver.js';

/** A device that can be opened. */
export interface GpuDevice {
  readonly kind: GpuKind;
  /** Which of the devices of its kind, from 0 on. */
  readonly index: number;
  readonly name: string;
  readonly vendor: string;
  /** Bytes of its memory. */
  readonly memoryBytes: number;
  /** Whether regions of its memory can be registered with REMOTE_ATOMIC. */
  readonly hasAtomics: boolean;
}

/** How a device is chosen. */
export interface GpuOptions {
  /** Default: that of the first device there is, CUDA's first. */
  readonly kind?: GpuKind;
  /** Which of the devices of that kind; default 0. */
  readonly index?: number;
}

/** A GPU that is open. It belongs to the thread that opened it. */
export interface GpuContext extends Disposable {
  readonly device: GpuDevice;

  /**
   * Takes memory of the device. What it holds at first is not said.
   *
   * @param length bytes, at least one
   * @throws VerbsError EINVAL for a length that cannot be; ENOMEM when the device has too little; EIO when it fails
   */
  alloc(length: number): GpuBuffer;

  /**
   * Closes the device.
   *
   * @throws VerbsError EBUSY while it has buffers; EINVAL when it was closed before
   */
  close(): void;
}

/**
 * Memory of a GPU. `Pd.regMr` registers it as it does memory of the program; it is then named by its region's `iova`. A range
 * may be read and written here while it is registered; who comes first of this and the NIC, nobody says.
 */
export interface GpuBuffer extends DeviceMemory, Disposable {
  readonly gpu: GpuContext;
  /** Bytes. */
  readonly length: number;
  /** Where the device has it, as its pointers say; made up for OpenCL, which tells no addresses. */
  readonly address: bigint;

  /**
   * Copies memory of the program into the buffer, in the event loop. The program leaves it alone until then.
   *
   * @param source at least one byte
   * @param offset where in the buffer; default 0
   * @throws VerbsError EINVAL for a range that is not inside, or when it was freed; EIO when the device fails
   */
  write(source: Uint8Array, offset?: number): Promise<void>;

  /** As {@link write}, and blocks until it is done. */
  writeSync(source: Uint8Array, offset?: number): void;

  /**
   * Copies a part of the buffer into memory of the program, in the event loop.
   *
   * @param target takes as many bytes as it has, at least one
   * @param offset where in the buffer; default 0
   * @throws VerbsError as {@link write}
   */
  read(target: Uint8Array, offset?: number): Promise<void>;

  /** As {@link read}, and blocks until it is done. */
  readSync(target: Uint8Array, offset?: number): void;

  /**
   * Sets all bytes, on the device.
   *
   * @param value 0 to 255
   * @throws VerbsError as {@link write}
   */
  fill(value: number): void;

  /**
   * Compares two buffers of the same length and device, on the device: nothing of them comes to the processor.
   *
   * @returns where the first difference is, in bytes from the beginning; undefined where there is none
   * @throws VerbsError EINVAL for a buffer of another device or length; otherwise as {@link write}
   */
  firstDifference(other: GpuBuffer): Promise<number | undefined>;

  /**
   * Gives the memory back.
   *
   * @throws VerbsError EBUSY while it is registered, naming the region, or while a copy is under way; EINVAL when it was
   *   freed before
   */
  free(): void;
}
