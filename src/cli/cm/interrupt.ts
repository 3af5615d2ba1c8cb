import { VerbsError } from '../../index.js';

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * At Ctrl-C: has `end` take leave of the peers, which would otherwise wait, and ends the process. `end` may fail halfway,
 * since it can come at any moment.
 */
export function endOnInterrupt(end: () => void): void {
  for (const [signal, code] of Object.entries(EXIT_CODES)) {
    process.once(signal, () => {
      try {
        end();
      } catch (error) {
        if (!(error instanceof VerbsError)) throw error;
      }
      process.exit(code);
    });
  }
}
