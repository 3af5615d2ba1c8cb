import { Errno, type ErrnoName } from '../../device/ibta/index.js';
import { CommandError } from '../../device/nic/index.js';
import { VerbsError } from '../../api/verbs/index.js';
import { SystemCallError } from '../../node/system/index.js';

/** A command that is not carried out. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(readonly errno: ErrnoName) {
    super(errno);
  }
}

/** The number that a program is told, or undefined for what is no refusal but a mistake of ours. */
export function errnoOf(error: unknown): number | undefined {
  if (error instanceof Refusal || error instanceof VerbsError || error instanceof CommandError)
    return Errno[error.errno];
  if (error instanceof SystemCallError) return error.errnoNumber;
  // Node's own calls of the system: no descriptor left, no memory left.
  return error instanceof Error && 'errno' in error && typeof error.errno === 'number' ? -error.errno : undefined;
}
