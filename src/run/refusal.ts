import { Errno, type ErrnoName } from '../device/ibta/index.js';
import { CommandError } from '../device/nic/index.js';
import { problemOf, VerbsError } from '../api/verbs/index.js';
import { SystemCallError } from '../node/system/index.js';
import { inC } from './reports/c-vocabulary.js';

/** A command that is not carried out. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  /**
   * @param reason why, in C's names, and what to do: sentences without the last full stop. Nothing where the provider library only
   *   tries what there is
   */
  constructor(
    readonly errno: ErrnoName,
    readonly reason = '',
  ) {
    super(reason === '' ? errno : `${errno}: ${reason}`);
  }
}

/** @throws Refusal EINVAL for a value outside the limits of the device */
export function requireWithin(field: string, value: number, least: number, most: number): void {
  if (value < least || value > most)
    throw new Refusal('EINVAL', `${field} is ${value}. This device takes ${least} to ${most}`);
}

/** Why a call was refused, in C's names; undefined for what nobody has to be told. */
export function refusalText(error: unknown): string | undefined {
  if (error instanceof Refusal) return error.reason === '' ? undefined : error.message;
  if (error instanceof VerbsError) {
    const { errno, message, advice } = problemOf(error);
    return inC(`${errno}: ${message}${advice === '' ? '' : `. ${advice}`}`);
  }
  if (error instanceof CommandError) return inC(`${error.errno}: ${error.message}`);
  return error instanceof Error ? error.message : undefined;
}

/** The number that a program is told, or undefined for what is no refusal but a mistake of ours. */
export function errnoOf(error: unknown): number | undefined {
  if (error instanceof Refusal || error instanceof VerbsError || error instanceof CommandError)
    return Errno[error.errno];
  if (error instanceof SystemCallError) return error.errnoNumber;
  // Node's own calls of the system: no descriptor left, no memory left.
  return error instanceof Error && 'errno' in error && typeof error.errno === 'number' ? -error.errno : undefined;
}
