import { Script } from 'node:vm';

declare global {
  var interrupted: () => void;
}

const script = new Script('interrupted()');
const INTERRUPTED: ReadonlySet<unknown> = new Set(['ERR_SCRIPT_EXECUTION_TIMEOUT', 'ERR_SCRIPT_EXECUTION_INTERRUPTED']);

function run(call: () => void, options: { readonly timeout: number } | { readonly breakOnSigint: true }): void {
  globalThis.interrupted = call;
  try {
    script.runInThisContext(options);
  } catch (error) {
    if (error instanceof Error && 'code' in error && INTERRUPTED.has(error.code)) return;
    throw error;
  }
}

/** Runs something without an end for a moment, and ends it wherever it is then: no `finally` runs, nor any `catch`. */
export function interrupt(endless: () => void): void {
  run(endless, { timeout: 1 });
}

/** Why calls cannot be interrupted at a chosen place, or false. */
export const cannotHold = process.platform === 'win32' && 'nobody can be sent a SIGINT';

/** The place in a call at which {@link interruptHeld} ends it. */
export function hold(): never {
  process.kill(process.pid, 'SIGINT');
  for (;;);
}

/** Runs a call until it comes to {@link hold}, and ends it there, as Ctrl-C would in a REPL. */
export function interruptHeld(call: () => void): void {
  run(call, { breakOnSigint: true });
}

const OPERATIONS = ['load', 'store', 'exchange', 'compareExchange'] as const;

/** Interrupts a call after its `n`th atomic operation, counted from 1. @returns whether it had so many */
export function interruptAfter(n: number, call: () => void): boolean {
  const originals = OPERATIONS.map((name) => [name, Reflect.get(Atomics, name)] as const);
  let count = 0;
  try {
    for (const [name, original] of originals)
      Reflect.set(Atomics, name, (...args: readonly unknown[]): unknown => {
        const result: unknown = Reflect.apply(original, Atomics, args);
        count += 1;
        return count === n ? hold() : result;
      });
    interruptHeld(call);
  } finally {
    for (const [name, original] of originals) Reflect.set(Atomics, name, original);
  }
  return count >= n;
}
