import { sentence, ToolError } from '../../kit/errors.js';

const FAILED = -1;

/** A test that ended with a status of its own, as an event or a C call would give it: not 0. */
export class TestFailure extends Error {
  override readonly name = 'TestFailure';

  constructor(
    readonly status: number,
    /** What the user is told, on standard error. */
    message: string,
  ) {
    super(message);
  }
}

/** What a tool prints as it goes: to standard output, which with --json belongs to the object at the end. */
export function sayer(json: boolean): (text: string) => void {
  return (text) => {
    if (!json) process.stdout.write(`${text}\n`);
  };
}

/** What the shell sees of a status that a C `main` returns; never 0 for one that is not. */
export function exitCodeOf(status: number): number {
  return status & 0xff || (status === 0 ? 0 : 1);
}

async function statusOf(test: () => Promise<void>): Promise<number> {
  try {
    await test();
    return 0;
  } catch (error) {
    process.stderr.write(`${error instanceof TestFailure ? error.message : sentence(error)}\n`);
    if (error instanceof TestFailure) return error.status;
    return error instanceof ToolError && error.exitCode !== 1 ? error.exitCode : FAILED;
  }
}

export interface StatusTest {
  run(): Promise<void>;
  /** Ends all that it has; only after a run that went well. */
  close(): Promise<void>;
  facts(): object;
}

/** Runs a test, and ends as the C tools do: with its status in words, and as what the shell sees of it. */
export async function runTest(test: StatusTest, { json }: { readonly json?: true }): Promise<void> {
  const say = sayer(json === true);
  const begun = performance.now();
  const status = await statusOf(() => test.run());
  const elapsedUs = Math.round((performance.now() - begun) * 1000);
  say('test complete');
  if (status === 0) await test.close();
  say(`return status ${status}`);
  if (json === true) process.stdout.write(`${JSON.stringify({ ...test.facts(), elapsedUs, status })}\n`);
  if (status !== 0) process.exit(exitCodeOf(status));
}
