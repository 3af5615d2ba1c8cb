import { VerbsError, readStatistics } from '../../entry/index.js';
import { isDebugging, systemCode, ToolError } from './tool-error.js';

/** Prints a warning of the library. A capture that is not complete does not change the tool's exit code. */
export function warn(text: string): void {
  process.stderr.write(`Warning: ${text}\n`);
}

export { ToolError, fileFailure, systemCode } from './tool-error.js';

/** Does one step of a tool; a failure says which step it was, in the words of the C tool, and then why. */
export function attempt<Result>(failure: string, step: () => Result): Result {
  try {
    return step();
  } catch (error) {
    if (error instanceof VerbsError) throw new ToolError(`${failure}: ${error.message}`, 1, { cause: error });
    throw error;
  }
}

export function sentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A system call's own message is a sentence already; what else arrives here is a mistake of ours, so show where.
  const expected = error instanceof ToolError || error instanceof VerbsError || systemCode(error) !== undefined;
  if (!expected || isDebugging()) return error.stack ?? error.message;
  return isRefused(error) ? `${error.message}${otherNics()}` : error.message;
}

/** Wraps a subcommand's action: a failure becomes one sentence on stderr and a non-zero exit. */
export function tool<Args extends unknown[]>(
  body: (...args: Args) => void | Promise<void>,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    try {
      await body(...args);
    } catch (error) {
      process.stderr.write(`${sentence(error)}\n`);
      // Not process.exitCode: a socket or a thread that the failure left behind must not keep the tool alive.
      process.exit(error instanceof ToolError ? error.exitCode : 1);
    }
  };
}

/** Addresses that are named; a sentence with more is none. */
const MOST = 4;

/** Where other NICs of this user are, as a sentence to follow a refusal; empty when there are none. */
export function otherNics(): string {
  const others = readStatistics().filter(({ pid }) => pid !== process.pid);
  if (others.length === 0) return '';
  const named = others.slice(0, MOST).map(({ address, pid }) => `${address} (process ${pid})`);
  const more = others.length > MOST ? ` and ${others.length - MOST} more, see rdma link` : '';
  return ` Programs of this user have NICs at ${named.join(', ')}${more}.`;
}

/** Whether a failure is that nothing listens at a port. */
export function isRefused(error: unknown): boolean {
  return error instanceof VerbsError && error.errno === 'ECONNREFUSED';
}
