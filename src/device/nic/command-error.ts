import type { ErrnoName } from '../ibta/index.js';

/** A control verb that the NIC refuses: nothing has changed. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  constructor(
    readonly errno: ErrnoName,
    message: string,
  ) {
    super(message);
  }
}

/** Refuses a ring that a driver made smaller than the layout prescribes. */
export function requireBytes(memory: ArrayBufferLike, bytes: number): void {
  if (memory.byteLength < bytes)
    throw new CommandError('EINVAL', `a ring of ${memory.byteLength} bytes where the layout prescribes ${bytes}`);
}
