/** What a test waits for will not come, or has not come in time. The message says what everybody was waiting for. */
export class StalledError extends Error {
  override readonly name = 'StalledError';
  readonly #waiting: string;
  readonly #nowUs: number;

  /** @param about - `from` was made where somebody began to wait: its stack leads there, where that of a timer leads nowhere */
  constructor(
    message: string,
    { waiting, nowUs, from }: { readonly waiting: string; readonly nowUs: number; readonly from: Error },
  ) {
    super(message);
    this.#waiting = waiting;
    this.#nowUs = nowUs;
    const lines = from.stack?.split('\n').filter((line) => /^ +at /.test(line)) ?? [];
    this.stack = [`${this.name}: ${this.message}`, ...lines].join('\n');
  }

  // Getters, so that those who print an error with its fields do not print the message's second half twice.
  /** What the hosts were waiting for, a line each. */
  get waiting(): string {
    return this.#waiting;
  }

  /** Virtual time at which it was found out, in µs. */
  get nowUs(): number {
    return this.#nowUs;
  }
}
