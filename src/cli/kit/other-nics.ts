import { readStatistics, VerbsError } from '../../entry/index.js';

/** Addresses that are named; a sentence with more is none. */
const MOST = 4;

/** Where other NICs of this user are, as a sentence to follow a refusal; empty when there are none. */
export function otherNics(): string {
  const others = readStatistics().filter(({ pid }) => pid !== process.pid);
  if (others.length === 0) return '';
  const named = others.slice(0, MOST).map(({ address, pid }) => `${address} (process ${pid})`);
  const more = others.length > MOST ? ` and ${others.length - MOST} more, see rdma link` : '';
  return ` Programs of this user have NICs at ${named.join(', ')}${more}.`;
}

/** Whether a failure is that nothing listens at a port. */
export function isRefused(error: unknown): boolean {
  return error instanceof VerbsError && error.errno === 'ECONNREFUSED';
}
