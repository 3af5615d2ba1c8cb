import type { AtomicName } from '../../../../entry/ucp.js';
import { bytesOf } from '../plan.js';
import type { PlayOf } from './play.js';

const BY_ONE = 1n;

/** @param isFetching whether what was there before comes back, and is waited for */
export function atomicPlay(name: AtomicName, isFetching: boolean): PlayOf {
  return ({ plan, isClient, out, theirs }) => {
    if (!isClient) return undefined;
    const bytes = bytesOf(plan) === 4 ? 4 : 8;
    const options = { bytes, ...(name === 'compareSwap' && { compare: 0n }) } as const;
    const { address } = theirs;
    if (isFetching) return () => out.atomicFetch(name, BY_ONE, address, theirs, options);
    return () => out.atomic(name, BY_ONE, address, theirs, options);
  };
}
