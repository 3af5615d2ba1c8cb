import { getSystemErrorName } from 'node:util';

/** A system call that failed. */
export class SystemCallError extends Error {
  override readonly name = 'SystemCallError';
  /** The errno's name, as in `error.code` of Node: `EADDRINUSE`. */
  readonly code: string;

  constructor(
    /** The call, as its manual page is named: `bind`. */
    readonly call: string,
    /** The errno's number on this machine. */
    readonly errnoNumber: number,
  ) {
    const code = errnoName(errnoNumber);
    super(`${call} failed: ${code}`);
    this.code = code;
  }
}

/** The name of an errno number; a number that nobody has named gives `errno 4711`. */
export function errnoName(errnoNumber: number): string {
  // Node throws for 0 and for positive numbers, and answers "Unknown system error" to the rest.
  if (errnoNumber <= 0) return `errno ${errnoNumber}`;
  const name = getSystemErrorName(-errnoNumber);
  return /^E[A-Z0-9]+$/.test(name) ? name : `errno ${errnoNumber}`;
}
