import type { Sim } from '../../../../sim/index.js';
import { VerbsError } from '../../../../entry/index.js';

export interface TakingBack {
  /** Infinity is never. */
  readonly abortAfterUs: number;
  readonly byDeadline?: boolean;
}

const REASON = new Error('the program wants it back');

/** What to give to a call, so that it is taken back in time. */
export function whenToTakeBack(sim: Sim, plan: TakingBack): { signal?: AbortSignal; timeoutMs?: number } {
  const { abortAfterUs, byDeadline = false } = plan;
  if (abortAfterUs === Infinity) return {};
  if (byDeadline) return { timeoutMs: abortAfterUs / 1000 };
  const controller = new AbortController();
  if (abortAfterUs === 0) controller.abort(REASON);
  else sim.at(sim.nowUs + abortAfterUs, () => controller.abort(REASON));
  return { signal: controller.signal };
}

/** Whether a call has failed because it was taken back. */
export function isTakenBack(error: unknown, { abortAfterUs, byDeadline = false }: TakingBack): boolean {
  if (abortAfterUs === Infinity) return false;
  return byDeadline ? error instanceof VerbsError && error.errno === 'ETIMEDOUT' : error === REASON;
}
