import { Errno, type ErrnoName } from '../ibta/index.js';

/** A link, or a capture of one, that could not be opened. The message is a sentence with what to do about it. */
export class LinkError extends Error {
  override readonly name = 'LinkError';

  constructor(
    readonly errno: ErrnoName,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The name among those that verbs report; anything rarer is an input/output error. */
export function errnoNameOf(code: string): ErrnoName {
  for (const name in Errno) if (name === code) return name as keyof typeof Errno; // its own key, which `in` gives as a string
  return 'EIO';
}

/** `error.code` of an error of Node or of a system call. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
