import { Script } from 'node:vm';

declare global {
  /** What {@link interrupt} runs. */
  var interrupted: () => void;
}

const script = new Script('interrupted()');

/** Runs something without an end for a moment, and ends it wherever it is then: no `finally` runs, nor any `catch`. */
export function interrupt(endless: () => void): void {
  globalThis.interrupted = endless;
  try {
    script.runInThisContext({ timeout: 1 });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return;
    throw error;
  }
}
