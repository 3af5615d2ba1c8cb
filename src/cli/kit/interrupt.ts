import { setImmediate } from 'node:timers/promises';
import { VerbsError } from '../../entry/index.js';

const FACTOR = 10;
/** Texts that are remembered; later ones are passed on as they are. */
const MAX_TEXTS = 100;

/**
 * A way to tell many things of which most are equal: each text is passed on the first time, and then with its count at
 * the 10th, 100th, 1,000th, ... time.
 */
export function repeatedly(tell: (text: string) => void): (text: string) => void {
  const counts = new Map<string, { count: number; next: number }>();
  return (text) => {
    const known = counts.get(text);
    if (known === undefined) {
      if (counts.size < MAX_TEXTS) counts.set(text, { count: 1, next: FACTOR });
      tell(text);
      return;
    }
    known.count += 1;
    if (known.count < known.next) return;
    known.next *= FACTOR;
    tell(`${text} (${known.count.toLocaleString('en')} times so far)`);
  };
}

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** How long a tool may take to disconnect from its peers and to print its results before it ends. */
const PATIENCE_MS = 200;

/** How long a tool may compute before the event loop, where signals arrive, gets a turn. */
const TURN_MS = 50;

type End = () => void | Promise<void>;

const ends: End[] = [];
let patience = PATIENCE_MS;

async function endQuietly(end: End): Promise<void> {
  try {
    await end();
  } catch (error) {
    if (!(error instanceof VerbsError)) throw error;
  }
}

async function endWith(code: number): Promise<never> {
  if (patience !== Infinity) setTimeout(() => process.exit(code), patience);
  await Promise.all(ends.map(endQuietly));
  process.exit(code);
}

/**
 * At Ctrl-C, or when the process receives SIGTERM or SIGHUP: calls `end`, which disconnects from the peers and prints the
 * results so far, and exits as the signal would have. `end` may fail halfway, since a signal can arrive at any moment. A
 * second signal ends the process at once.
 *
 * Signals arrive in the event loop, so a tool that computes must give it turns: {@link Turns}.
 *
 * @param patienceMs after which the process exits even though `end` has not finished; the longest of all calls counts
 */
export function endOnInterrupt(end: End, patienceMs = PATIENCE_MS): void {
  patience = Math.max(patience, patienceMs);
  ends.push(end);
  if (ends.length > 1) return;
  for (const [signal, code] of Object.entries(EXIT_CODES)) process.once(signal, () => void endWith(code));
}

/** Gives the event loop a turn from time to time, so that a tool that computes notices Ctrl-C. */
export class Turns {
  #nextMs = performance.now() + TURN_MS;

  get isDue(): boolean {
    return performance.now() >= this.#nextMs;
  }

  async take(): Promise<void> {
    await setImmediate();
    this.#nextMs = performance.now() + TURN_MS;
  }
}
