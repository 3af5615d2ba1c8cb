import { PSN_MASK } from '../../ibta/index.js';

/** The transaction that a request begins (protocol.md 4.1): 64 bits. */
export function freshTransaction(random: () => number): bigint {
  return (BigInt(random() >>> 0) << 32n) | BigInt(random() >>> 0);
}

/** The first PSN of a direction: 24 bits that nobody can guess. */
export function freshPsn(random: () => number): number {
  return random() & PSN_MASK;
}
