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
