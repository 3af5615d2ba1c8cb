import { portable } from './portable.js';
import type { Runtime } from './runtime.js';

let current: Runtime = portable;

/** What this program runs in. */
export function runtime(): Runtime {
  return current;
}

/** Says what this program runs in; until then it takes it for a page of a browser. */
export function useRuntime(other: Runtime): void {
  current = other;
}
