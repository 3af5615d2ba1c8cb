import type { ErrnoName } from '../../../device/ibta/index.js';
import { runtime } from '../../../api/runtime/index.js';
import { VerbsError } from '../../../api/verbs/index.js';
import { KvError } from '../errors.js';
import { CommandError } from './commands/index.js';
import { ErrorReply } from './resp/reply.js';

/** How Redis words what the store refuses: programs look at these texts, or at their first words. */
const REFUSALS: Readonly<Partial<Record<ErrnoName, string>>> = {
  ENOSPC: 'OOM command not allowed: the store is full',
  EOVERFLOW: 'ERR increment or decrement would overflow',
};
const NO_NUMBER = 'ERR value is not an integer or out of range';

/** What a client is told of a command that failed. */
export function replyOf(error: unknown): ErrorReply {
  if (error instanceof CommandError) return error.reply;
  if (error instanceof KvError && error.outcome === 'refused')
    return new ErrorReply(REFUSALS[error.errno] ?? (error.errno === 'EINVAL' ? NO_NUMBER : lineOf(error.reason)));
  if (error instanceof VerbsError) return new ErrorReply(lineOf(error.message));
  // Ours to mend.
  runtime().warn(error instanceof Error ? error : new Error(String(error)));
  return new ErrorReply('ERR internal error');
}

function lineOf(message: string): string {
  return `ERR ${message.replaceAll(/[\r\n]+/g, ' ')}`;
}
