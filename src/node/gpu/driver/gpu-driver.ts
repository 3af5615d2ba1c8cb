import type { AtomicOperation } from '../../../device/nic/index.js';

/** A call of a library, or what it had begun, has failed. */
export class GpuFailure extends Error {
  override readonly name = 'GpuFailure';

  /**
   * @param call as the library names it
   * @param status its number of what is wrong
   * @param statusName its name of that
   * @param isOutOfMemory whether there is too little memory of the device
   */
  constructor(
    readonly call: string,
    readonly status: number,
    readonly statusName: string,
    readonly isOutOfMemory = false,
  ) {
    super(`${call} gave ${statusName} (${status})`);
  }
}

/** What a call of a driver has thrown. Anything else is a mistake of ours, and goes on. */
export function asFailure(error: unknown): GpuFailure {
  if (error instanceof GpuFailure) return error;
  throw error;
}

/** Kinds of GPU: the libraries by which they are reached. */
export const GpuKind = {
  /** The driver of NVIDIA's GPUs: `libcuda.so.1`. */
  CUDA: 'cuda',
  /** Whatever has an OpenCL driver: `libOpenCL.so.1`. */
  OPENCL: 'opencl',
} as const;
export type GpuKind = (typeof GpuKind)[keyof typeof GpuKind];

/** Into how many parts the device divides a comparison. */
export const COMPARE_PARTS = 1024;

/** What a library calls one of its objects: a pointer or a number, good in all threads of the process. */
export type GpuHandle = number;

export interface GpuDeviceFacts {
  readonly index: number;
  readonly name: string;
  readonly vendor: string;
  /** Bytes of its memory. */
  readonly memoryBytes: number;
  /** Whether it changes words of 64 bits in one step, which RDMA's atomics need. */
  readonly hasAtomics: boolean;
}

/** Where a buffer is, as another thread of the process finds it: plain data. It is there as long as the buffer is. */
export interface GpuPlace {
  readonly kind: GpuKind;
  readonly device: number;
  readonly context: GpuHandle;
  readonly buffer: GpuHandle;
  /** By which its words are changed ({@link GpuSession.prepareAtomics}); 0 where they are not. */
  readonly atomics: GpuHandle;
  readonly lengthBytes: number;
}

/** A kind of GPU: a library that is loaded. */
export interface GpuDriver {
  readonly kind: GpuKind;
  /** What to install where the library is there and finds no device. */
  readonly remedy: string;

  /** @throws GpuFailure */
  devices(): readonly GpuDeviceFacts[];

  /** Opens a device. @throws GpuFailure */
  open(index: number): GpuSession;

  /** Joins what another thread has opened, which outlives what is returned. @throws GpuFailure */
  join(device: number, context: GpuHandle): GpuSession;
}

export interface GpuSession {
  readonly facts: GpuDeviceFacts;
  readonly context: GpuHandle;

  /** @throws GpuFailure */
  alloc(lengthBytes: number): GpuHandle;

  /** Nothing is under way from or to it. @throws GpuFailure */
  free(buffer: GpuHandle): void;

  /** Where the device has the buffer; undefined where it does not tell. */
  addressOf(buffer: GpuHandle): number | undefined;

  /** Memory of the processor that the device reaches by itself, and which stays in place. @throws GpuFailure */
  allocStaging(lengthBytes: number): GpuStaging;

  /** No command names it any more. */
  freeStaging(staging: GpuStaging): void;

  /**
   * Gets ready what changes words of 64 bits in one step, which may take a second the first time: it is done by whoever has
   * opened the device, so that no NIC stands still meanwhile. It ends with the session.
   *
   * @throws GpuFailure
   */
  prepareAtomics(): GpuHandle;

  /** @throws GpuFailure */
  openQueue(): GpuQueue;

  /** Its queues and staging are closed; buffers of one that was opened are freed. */
  close(): void;
}

/** Memory that both the processor and the device reach. */
export interface GpuStaging {
  readonly bytes: Uint8Array;
  readonly handle: GpuHandle;
}

/**
 * Commands that a device carries out in their order, while the processor does other things. Each call adds one, and throws
 * GpuFailure when it cannot: then nothing of it is carried out. What takes several commands of the library, of which the first was
 * added and another refused, fails in {@link submit}, for it is carried out. {@link submit} has the device begin with all that were added.
 */
export interface GpuQueue {
  write(buffer: GpuHandle, offset: number, staging: GpuStaging, stagingOffset: number, lengthBytes: number): void;

  read(buffer: GpuHandle, offset: number, staging: GpuStaging, stagingOffset: number, lengthBytes: number): void;

  /** Changes a word of 64 bits in one step, as seen by whatever the device does; what it was goes to staging. */
  atomic(
    atomics: GpuHandle,
    buffer: GpuHandle,
    offset: number,
    operation: AtomicOperation,
    staging: GpuStaging,
    stagingOffset: number,
  ): void;

  /** Sets bytes of a buffer to a value. */
  fill(buffer: GpuHandle, offset: number, lengthBytes: number, value: number): void;

  /**
   * Puts {@link COMPARE_PARTS} numbers of 64 bits into staging: where the first difference is that each part of the device's work has
   * found, or `lengthBytes` where it has found none.
   */
  compare(
    a: GpuHandle,
    aOffset: number,
    b: GpuHandle,
    bOffset: number,
    lengthBytes: number,
    staging: GpuStaging,
    stagingOffset: number,
  ): void;

  /**
   * Has the device carry out what was added since.
   *
   * @throws GpuFailure when that cannot be, or nobody would hear of its end: some of it may be carried out, until {@link drain} returns
   */
  submit(): GpuBatch;

  /**
   * Waits until nothing is under way any more.
   *
   * @returns whether that is certain: otherwise nobody knows what the device still does
   */
  drain(): boolean;

  /**
   * Has `ended` called, from outside of everything, when a batch may have ended. A kind without it is asked again and again.
   */
  listen?(ended: () => void): void;

  close(): void;
}

/** Commands that were submitted together. */
export interface GpuBatch {
  /** How it stands now; a failure is of one of its commands, and of those behind it. */
  state(): BatchState;
  readonly failure: GpuFailure | undefined;
  /** Blocks until it has ended. */
  wait(): void;
  /** It has ended, or is of no interest any more. */
  release(): void;
}

export const BatchState = { RUNNING: 0, DONE: 1, FAILED: 2 } as const;
export type BatchState = (typeof BatchState)[keyof typeof BatchState];
