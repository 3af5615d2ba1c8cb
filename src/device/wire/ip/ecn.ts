/** Explicit congestion notification (RFC 3168): the low two bits of IPv4's TOS and IPv6's traffic class, which no ICRC covers. */

/** What the two bits say. */
export const Ecn = {
  /** The sender does not respond to marks, so a full queue drops its packets. */
  NOT_ECT: 0,
  ECT1: 1,
  /** The sender answers to marks. */
  ECT0: 2,
  /** Somebody on the way had a long queue. */
  CE: 3,
  MASK: 3,
} as const;
/** A value of the {@link Ecn} object. */
export type Ecn = (typeof Ecn)[keyof typeof Ecn];

const NAMES: Readonly<Record<number, string>> = { 0: 'Not-ECT', 1: 'ECT(1)', 2: 'ECT(0)', 3: 'CE' };

/** What RFC 3168 calls the two bits of a TOS or traffic class. */
export function ecnName(trafficClass: number): string {
  return NAMES[trafficClass & Ecn.MASK] ?? '';
}
