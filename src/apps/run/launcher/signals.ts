import type { LeftBehind } from './left-behind.js';
import type { Program } from './program.js';

/** What ends programs, and can be caught. */
const ENDING = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const;
/** What stops programs or tells them something. */
const TELLING = ['SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGCONT'] as const;
/** What a terminal sends to all that run in it: the program has it already. */
const FROM_TERMINAL: readonly string[] = ['SIGINT', 'SIGQUIT', 'SIGWINCH'];

/** Hands signals on to the program, and ends with it rather than before. */
export function forwardSignals(program: Program, leftBehind: LeftBehind): void {
  const inTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  const hasIt = (signal: NodeJS.Signals): boolean => inTerminal && FROM_TERMINAL.includes(signal) && program.pid !== 0;
  const handOn = (signal: NodeJS.Signals): boolean => hasIt(signal) || program.kill(signal);
  for (const signal of TELLING) process.on(signal, handOn);
  for (const signal of ENDING) {
    process.on(signal, () => {
      if (!handOn(signal)) leftBehind.end();
    });
  }
}
