import type { Program } from './program.js';

/** What ends, stops or tells programs something, and can be caught. */
const FORWARDED = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGCONT'] as const;
/** What a terminal sends to all that run in it: the program has it already. */
const FROM_TERMINAL: readonly string[] = ['SIGINT', 'SIGQUIT', 'SIGWINCH'];

/** Hands signals on to the program, and ends with it rather than before. */
export function forwardSignals(program: Program): void {
  const inTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  for (const signal of FORWARDED) {
    process.on(signal, () => {
      if (!(inTerminal && FROM_TERMINAL.includes(signal))) program.kill(signal);
    });
  }
}
