import type { ErrnoName } from '../ibta/index.js';

/** A command that was refused; nothing has changed then. */
export class CmError extends Error {
  override readonly name = 'CmError';

  constructor(
    readonly errno: ErrnoName,
    message: string,
  ) {
    super(message);
  }
}
