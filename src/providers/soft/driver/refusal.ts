import { CommandError } from '../../../device/nic/index.js';
import { VerbsError } from '../../../api/verbs/index.js';

/** What a call of that C name throws when the adapter has thrown `error`. */
export function refusalOf(call: string, error: unknown): unknown {
  if (!(error instanceof CommandError)) return error;
  return new VerbsError(call, { errno: error.errno, message: error.message, advice: '' }, { cause: error });
}
