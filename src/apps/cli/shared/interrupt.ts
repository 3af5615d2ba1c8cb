import { VerbsError } from '../../../index.js';

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

async function endWith(code: number, end: () => void | Promise<void>): Promise<never> {
  try {
    await end();
  } catch (error) {
    if (!(error instanceof VerbsError)) throw error;
  }
  process.exit(code);
}

/**
 * At Ctrl-C, or when the process is asked to end: has `end` take leave of the peers, which would otherwise wait, and ends
 * the process as the signal would have. `end` may fail halfway, since it can come at any moment. A second signal ends it
 * at once.
 */
export function endOnInterrupt(end: () => void | Promise<void>): void {
  for (const [signal, code] of Object.entries(EXIT_CODES)) process.once(signal, () => void endWith(code, end));
}
