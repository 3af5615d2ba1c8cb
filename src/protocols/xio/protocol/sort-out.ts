import { Kind } from '../wire/index.js';
import type { Item } from './item.js';

/**
 * What is to become of what a server was asked that has forgotten it.
 *
 * @param asked what waits for an answer. It may have been acknowledged, and is no longer kept
 * @param sent what is kept
 * @returns what another server can be asked for, in the order in which it was asked; and what may have been executed, and fails
 */
export function sortOut<I extends Item>(
  asked: Iterable<I>,
  sent: Iterable<I>,
): { readonly again: readonly I[]; readonly lost: readonly I[] } {
  const again: I[] = [];
  const lost: I[] = [];
  for (const item of new Set([...asked, ...sent])) {
    const isCall = item.kind === Kind.REQUEST || item.kind === Kind.ONE_WAY;
    if (isCall && item.isIdempotent && !item.isGivenUp) again.push(item);
    else if (!item.isGivenUp) lost.push(item);
  }
  again.sort((a, b) => a.sn - b.sn);
  for (const item of again) {
    item.sn = 0;
    item.isRetried = true;
  }
  return { again, lost };
}
