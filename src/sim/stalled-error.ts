/** What a test waits for will not come, or has not come in time. The message says what everybody was waiting for. */
export class StalledError extends Error {
  override readonly name = 'StalledError';

  constructor(
    message: string,
    /** What the hosts were waiting for, a line each. */
    readonly waiting: string,
    /** Virtual time at which it was found out, in µs. */
    readonly nowUs: number,
  ) {
    super(`${message}\n${waiting}`);
  }
}
