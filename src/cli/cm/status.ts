import { ToolError, sentence } from '../errors.js';

const FAILED = -1;

/** A test that ended with a status of its own, as an event or a C call would give it: not 0. */
export class TestFailure extends Error {
  override readonly name = 'TestFailure';

  constructor(
    readonly status: number,
    /** What the user is told, on stderr. */
    message: string,
  ) {
    super(message);
  }
}

/** What the shell sees of a status that a C `main` returns; never 0 for one that is not. */
export function exitCodeOf(status: number): number {
  return status & 0xff || (status === 0 ? 0 : 1);
}

/** Runs a test and returns its status, which is not 0 when the test failed; why it failed is told on stderr. */
export async function statusOf(test: () => Promise<void>): Promise<number> {
  try {
    await test();
    return 0;
  } catch (error) {
    process.stderr.write(`${error instanceof TestFailure ? error.message : sentence(error)}\n`);
    if (error instanceof TestFailure) return error.status;
    return error instanceof ToolError && error.exitCode !== 1 ? error.exitCode : FAILED;
  }
}
