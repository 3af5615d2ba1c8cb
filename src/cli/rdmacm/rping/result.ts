import type { FullAddress } from '../../../entry/index.js';
import { ToolError } from '../../kit/errors.js';
import type { RpingFlags } from './flags.js';

/** What the C tool's -1 is to the shell. */
export const FAILED = 255;

/** What came of a connection. */
export interface Result {
  readonly role: 'client' | 'server';
  readonly peer: FullAddress | undefined;
  readonly pings: number;
  readonly sizeBytes: number;
  readonly elapsedUs: number;
  /** It ended otherwise than by a side that had enough. */
  readonly failed: boolean;
}

/** With --json, prints it. */
export function printResult(result: Result, { json }: RpingFlags): void {
  if (json !== true) return;
  const { pings, elapsedUs } = result;
  process.stdout.write(`${JSON.stringify({ ...result, usecPerPing: pings === 0 ? 0 : elapsedUs / pings })}\n`);
}

/** @throws ToolError when it failed */
export function failIfFailed({ role, failed }: Result): void {
  if (failed) throw new ToolError(`rping ${role} failed: -1`, FAILED);
}
