import { threadsUnderFilter } from '../../node/system/index.js';

/** What the program has left behind is spoken of when it does not end sooner than that. */
const SPEAK_AFTER_MS = 1000;
/** Whoever was told to end has so long for it before that is spoken of. */
const PATIENCE_MS = 10_000;

/** Says to the user what the launcher waits for, when it does not end. */
export class Overdue {
  #told: NodeJS.Timeout | undefined;
  #left: NodeJS.Timeout | undefined;

  /** @param names who has not ended */
  constructor(
    private readonly names: () => readonly string[],
    private readonly say: (sentence: string) => void,
  ) {}

  onProgramEnd(): void {
    this.#left = setTimeout(() => {
      const names = this.names().join(', ');
      if (names === '') this.say(`the program has ended, but the launcher has not: ${nobody()}`);
      else this.say(`the program has ended; what it has started goes on, and is served: ${names}`);
    }, SPEAK_AFTER_MS);
  }

  onSignal(signal: NodeJS.Signals): void {
    this.#told ??= setTimeout(() => {
      const names = this.names().join(', ');
      const left = names === '' ? nobody() : `waits for ${names}`;
      this.say(`${PATIENCE_MS / 1000} s after ${signal} the launcher has not ended: ${left}`);
    }, PATIENCE_MS);
  }

  stop(): void {
    clearTimeout(this.#told);
    clearTimeout(this.#left);
  }
}

/** A mistake of ours then, and this is what its cause is found by. */
function nobody(): string {
  const threads = threadsUnderFilter();
  return `it knows of no process that is left; threads of its own under its filter: ${threads.join(', ') || 'none'}`;
}
