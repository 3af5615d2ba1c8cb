import { invalid, refuse, show } from '../../../api/verbs/index.js';

/** A tag, or a mask, as programs write it: 0 to 2^64 - 1, a number up to 2^53 - 1. */
export type TagValue = bigint | number;

const MAX_TAG = 2n ** 64n - 1n;

/** @throws VerbsError EINVAL */
export function checkTag(call: string, name: string, value: TagValue): void {
  const isTag = typeof value === 'number' ? Number.isSafeInteger(value) && value >= 0 : isWide(value);
  if (!isTag) refuse(call, invalid(`${name} is ${show(value)}`, 'It is 0 to 2^64 - 1, and above 2^53 - 1 a bigint'));
}

function isWide(value: unknown): boolean {
  return typeof value === 'bigint' && value >= 0n && value <= MAX_TAG;
}

/** @throws VerbsError EINVAL */
export function checkView(call: string, name: string, value: Uint8Array): void {
  if (!(value instanceof Uint8Array)) refuse(call, invalid(`${name} is ${show(value)}`, 'It is a Uint8Array'));
}
