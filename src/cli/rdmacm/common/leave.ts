import { type CmId, VerbsError } from '../../../entry/index.js';

/** Ends a connection; of one that never was, or has ended on both sides, there is nothing to end. */
export function leave(id: CmId): void {
  try {
    id.disconnect();
  } catch (error) {
    if (!(error instanceof VerbsError)) throw error;
  }
}
