import { sentence } from '../../kit/errors.js';

/** What the C tools return when a call fails, and what the shell sees of that. */
const FAILED = -1;
const FAILED_EXIT_CODE = 255;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * Runs a test between the two lines that the C tools print.
 *
 * @param test calls `begun` when its peer may come, or not at all
 */
export async function playOut(name: string, test: (begun: () => void) => Promise<void>): Promise<void> {
  let isTold = false;
  const begun = (): void => {
    if (!isTold) say(`${name}: start`);
    isTold = true;
  };
  try {
    await test(begun);
    say(`${name}: end 0`);
  } catch (error) {
    begun();
    process.stderr.write(`${sentence(error)}\n`);
    say(`${name}: end ${FAILED}`);
    // Not process.exitCode: what the failure left behind must not keep the tool alive.
    process.exit(FAILED_EXIT_CODE);
  }
}
