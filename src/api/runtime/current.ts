import { portable } from './portable.js';
import type { Runtime } from './runtime.js';

let current: Runtime = portable;

export function runtime(): Runtime {
  return current;
}

/** Emits a warning of the process about something that was thrown. */
export function warnOf(thrown: unknown): void {
  current.warn(thrown instanceof Error ? thrown : new Error(String(thrown)));
}

/** Says what this program runs in; until then it takes it for a page of a browser. */
export function useRuntime(other: Runtime): void {
  current = other;
}
