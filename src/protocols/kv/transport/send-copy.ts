import type { Qp } from '../../../api/verbs/index.js';
import type { Lease, SendQueue } from '../../core/index.js';
import { INLINE_BYTES } from './link.js';

/** Tells the queue pair's builder what a request is, and where it goes. */
export type Describe<T> = (qp: Qp, to: T, bytes: Uint8Array) => void;

/**
 * Sends a copy of a message: inline, or by a buffer of the pool.
 *
 * @param isAwaited whether a message that needs no buffer must be signaled, which makes its receiver acknowledge it
 * @returns false without room
 */
export function sendCopy<T>(
  sends: SendQueue<T>,
  bytes: Uint8Array,
  to: T,
  describe: Describe<T>,
  isAwaited = true,
): boolean {
  const isInline = bytes.length <= INLINE_BYTES;
  if (sends.room === 0) return false;
  const lease = isInline ? undefined : sends.lease(bytes.length);
  if (lease === undefined && !isInline) return false;
  lease?.bytes.set(bytes);
  const qp = sends.begin(to, lease, isAwaited || lease !== undefined);
  if (qp === undefined) return false;
  describe(qp, to, bytes);
  if (lease === undefined) qp.wrSetInlineData(bytes);
  else qp.wrSetSge(lease.lkey, lease.addr, bytes.length);
  sends.end();
  return true;
}

/** Posts a request for memory of the caller. @returns false without room */
export function postFor<T>(
  sends: SendQueue<T>,
  { bytes, addr, lkey }: Pick<Lease, 'bytes' | 'addr' | 'lkey'>,
  length: number,
  to: T,
  describe: Describe<T>,
): boolean {
  const qp = sends.room === 0 ? undefined : sends.begin(to, undefined, true);
  if (qp === undefined) return false;
  describe(qp, to, bytes);
  qp.wrSetSge(lkey, addr, length);
  sends.end();
  return true;
}
