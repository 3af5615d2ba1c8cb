import { VerbsError } from '../../src/entry/index.js';

/** @returns how a call was refused, if it was */
export function refusalOf(action: () => unknown): VerbsError | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    if (error instanceof VerbsError) return error;
    throw error;
  }
}
