import {
  type Fields,
  type FieldsOf,
  fieldsProblem,
  invalid,
  type Problem,
  refuse,
  show,
  VerbsError,
} from '../../../api/verbs/index.js';

/** How long somebody is ready to wait. */
export interface WaitOptions {
  /** Gives up; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds of the device's clock, which is virtual in a simulation. Then the promise rejects with ETIMEDOUT. Default: for ever. */
  readonly timeoutMs?: number | undefined;
}

export const WAIT_FIELDS: FieldsOf<WaitOptions> = { signal: true, timeoutMs: true };

/** @throws VerbsError EINVAL for options that are none */
export function checkWait(call: string, options: WaitOptions, fields: Fields = WAIT_FIELDS): void {
  refuse(call, fieldsProblem('options', options, fields) ?? waitProblem(options));
}

function waitProblem({ signal, timeoutMs }: WaitOptions): Problem | undefined {
  if (signal !== undefined && !(signal instanceof AbortSignal))
    return invalid(`signal is ${show(signal)}`, 'It is an AbortSignal');
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs >= 0))
    return invalid(`timeoutMs is ${show(timeoutMs)}`, 'It is a number of milliseconds');
  return undefined;
}

export function timedOut(call: string, timeoutMs: number): VerbsError {
  const message = `not done within ${timeoutMs} ms`;
  return new VerbsError(call, { errno: 'ETIMEDOUT', message, advice: '' });
}
