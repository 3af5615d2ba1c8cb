import { isatty } from 'node:tty';
import type { Descendants } from './descendants.js';

/** What ends programs, and can be caught. */
const ENDING = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const;
/** What stops programs or tells them something. */
const TELLING = ['SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGCONT'] as const;
/** What a terminal sends to all that run in it: the program has it already. */
const FROM_TERMINAL: readonly string[] = ['SIGINT', 'SIGQUIT', 'SIGWINCH'];

/**
 * Hands signals on to the program, and ends with it rather than before.
 *
 * @param onEnding called at each signal that is to end it
 */
export function forwardSignals(descendants: Descendants, onEnding: (signal: NodeJS.Signals) => void): void {
  // Node makes a stream that it is asked for non-blocking, and so it would be for the program.
  const inTerminal = [0, 1, 2].some((fd) => isatty(fd));
  const hasIt = (signal: NodeJS.Signals): boolean =>
    inTerminal && FROM_TERMINAL.includes(signal) && descendants.hasProgram;
  const handOn = (signal: NodeJS.Signals): boolean => hasIt(signal) || descendants.tellProgram(signal);
  for (const signal of TELLING) process.on(signal, handOn);
  for (const signal of ENDING) {
    process.on(signal, () => {
      onEnding(signal);
      if (!handOn(signal)) descendants.endOthers();
    });
  }
}
