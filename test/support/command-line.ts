/** What the commands that play the games have in common. */
import { parseArgs, type ParseArgsConfig } from 'node:util';

/** What stands on the command line; where that makes no sense, the help, and exit status 2. */
export function readOptions<const T extends NonNullable<ParseArgsConfig['options']>>(
  options: T,
  help: string,
): ReturnType<typeof parseArgs<{ options: T }>>['values'] {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${help}\n`);
    process.exit(2);
  }
}

export function wholeNumber(name: string, text: string, least = 0): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  process.stderr.write(`--${name} takes a whole number from ${String(least)} on, not '${text}'\n`);
  process.exit(2);
}

/** What takes a line of progress off a terminal. */
export function clearLine(): string {
  return process.stderr.isTTY ? '\r\x1b[K' : '';
}
