/**
 * Memory of another device than the processor, which no pointer of the program reaches: a `GpuBuffer` of `verbena/gpu` is such, and
 * only what is made there is. While it is registered it cannot be given back.
 */
export interface DeviceMemory extends Disposable {
  /** Bytes. */
  readonly length: number;
  /** Where its device has it. */
  readonly address: bigint;
}

/** Where memory of a device is, as whoever hosts a NIC finds it, from any thread of the process: plain data. */
export interface DeviceMemoryPlace {
  /** Who has it: the name of a kind of device. */
  readonly kind: string;
  readonly lengthBytes: number;
}
