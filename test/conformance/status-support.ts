/** What tests of completion statuses have in common; by the public API alone. */
import assert from 'node:assert/strict';
import { type Context, type Syndrome, syndromeStr, type WcStatus, type WorkCompletion } from '../../src/entry/index.js';
import { assertStatus } from './support.js';

export const hex = (value: number | bigint): string => `0x${value.toString(16)}`;

/** That a completion has a status, and a sentence with the numbers behind it. */
export function assertOutcome(
  end: { readonly context: Context },
  wc: WorkCompletion,
  status: WcStatus,
  syndrome: Syndrome,
  says: readonly (string | RegExp)[],
): void {
  assertStatus(end, wc, status);
  assert.equal(syndromeStr(wc.vendorErr as Syndrome), syndromeStr(syndrome)); // a NIC of ours says no other
  const sentence = end.context.explain(wc);
  for (const part of says) {
    const found = typeof part === 'string' ? sentence.includes(part) : part.test(sentence);
    assert.ok(found, `'${sentence}' does not say ${String(part)}`);
  }
}
