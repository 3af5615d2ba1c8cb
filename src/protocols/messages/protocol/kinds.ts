// The 32 bits of immediate data: kind, flags, and how many messages the peer may have sent in all, modulo 2^16.

const KNOWN_FLAGS = 0x01;

export function immediateOf(kind: number, flags: number, limit: number): number {
  return ((kind << 24) | (flags << 16) | (limit & 0xffff)) >>> 0;
}

export function kindOf(immediate: number): number {
  return immediate >>> 24;
}

export function flagsOf(immediate: number): number {
  return (immediate >>> 16) & 0xff;
}

export function limitOf(immediate: number): number {
  return immediate & 0xffff;
}

export function unknownFlags(flags: number): number {
  return flags & ~KNOWN_FLAGS;
}

/** What a message is, in the top byte of its immediate data. */
export const Kind = {
  /** A message of the program's, or the last fragment of one. */
  DATA: 1,
  /** A fragment, after which others come. */
  MORE: 2,
  /** The fragments since the last whole message are void: their sender gave up. */
  DISCARD: 3,
  /** Says no more than how far the peer may send. */
  CREDIT: 4,
  /** The sender ends the connection. The payload says why. Nothing comes after it. */
  CLOSE: 5,
} as const;
export type Kind = (typeof Kind)[keyof typeof Kind];

/** Bits of the second byte. */
export const Flag = {
  /** The sender has more, and no credit for it: a larger window would help. */
  HUNGRY: 0x01,
} as const;

export interface KindRules {
  readonly name: keyof typeof Kind;
  /** How much payload there is: any, a whole buffer, or none. */
  readonly payload: 'any' | 'full' | 'none';
  /** Whether it is a part of a program's message, and so waits in its place until the program takes it. */
  readonly carries: boolean;
}

const RULES: Readonly<Record<Kind, KindRules>> = {
  [Kind.DATA]: { name: 'DATA', payload: 'any', carries: true },
  [Kind.MORE]: { name: 'MORE', payload: 'full', carries: true },
  [Kind.DISCARD]: { name: 'DISCARD', payload: 'none', carries: true },
  [Kind.CREDIT]: { name: 'CREDIT', payload: 'none', carries: false },
  [Kind.CLOSE]: { name: 'CLOSE', payload: 'any', carries: false },
};

/** Credits that CREDIT leaves alone: one for the farewell. */
export const CREDIT_KEEPS_BACK = 1;
/**
 * Credits that programs' messages leave alone: one more, without which this end could not grant the peer any. A window must be
 * larger by two, so that what is consumed before half of it is told never blocks its sender.
 */
export const CONTROL_CREDITS = CREDIT_KEEPS_BACK + 1;

const byNumber: readonly (KindRules | undefined)[] = Array.from(
  { length: 256 },
  (_, kind) => (RULES as Readonly<Partial<Record<number, KindRules>>>)[kind],
);

/** The rules of a kind; undefined for a number that is none. */
export function rulesOf(kind: number): KindRules | undefined {
  return byNumber[kind];
}
