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
