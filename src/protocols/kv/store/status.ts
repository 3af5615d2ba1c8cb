import type { ErrnoName } from '../../../device/ibta/index.js';

/** What became of an operation. The numbers are said on the wire, and do not change. */
export const Status = {
  OK: 0,
  /** The key is not there, or no more. */
  NOT_FOUND: 1,
  /** The key is there, which ADD does not want; or with a version that is not the one CAS names. */
  EXISTS: 2,
  /** INCR: the value is no decimal number of 64 bits. */
  NOT_A_NUMBER: 3,
  /** INCR: the sum would not fit into 64 bits. */
  OVERFLOW: 4,
  /** Store mode: there is no room for it. */
  NO_SPACE: 5,
  /** The key is empty, or longer than {@link MAX_KEY_BYTES}. */
  BAD_KEY: 6,
  /** The value is longer than the partition takes. */
  TOO_LARGE: 7,
} as const;
export type Status = (typeof Status)[keyof typeof Status];

export interface StatusRules {
  readonly name: keyof typeof Status;
  /** The errno of an operation that fails with it; undefined where it is an answer like any other. */
  readonly errno: ErrnoName | undefined;
  /** A sentence without its full stop. */
  readonly text: string;
  /** What the program can do; a sentence without its full stop. */
  readonly advice?: string;
}

const RULES: Readonly<Record<Status, StatusRules>> = {
  [Status.OK]: { name: 'OK', errno: undefined, text: 'it was done' },
  [Status.NOT_FOUND]: { name: 'NOT_FOUND', errno: undefined, text: 'there is no such key' },
  [Status.EXISTS]: { name: 'EXISTS', errno: undefined, text: 'the key is there, or has another version' },
  [Status.NOT_A_NUMBER]: { name: 'NOT_A_NUMBER', errno: 'EINVAL', text: 'the value is not an integer of 64 bits' },
  [Status.OVERFLOW]: { name: 'OVERFLOW', errno: 'EOVERFLOW', text: 'the sum does not fit into 64 bits' },
  [Status.NO_SPACE]: {
    name: 'NO_SPACE',
    errno: 'ENOSPC',
    text: 'the store is full',
    advice: 'End some entries, or serve a store with more memoryBytes (--memory)',
  },
  [Status.BAD_KEY]: { name: 'BAD_KEY', errno: 'EINVAL', text: 'a key has 1 to 250 bytes' },
  [Status.TOO_LARGE]: {
    name: 'TOO_LARGE',
    errno: 'EMSGSIZE',
    text: 'the value is longer than the store takes',
    advice: 'Divide it among several keys, or serve a store with a greater maxValueBytes (--max-value)',
  },
};

const byNumber: readonly (StatusRules | undefined)[] = Object.values(RULES);

/** The rules of a status; undefined for a number that is none. */
export function statusRules(status: number): StatusRules | undefined {
  return byNumber[status];
}
