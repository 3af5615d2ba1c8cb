import type { Partition } from './partition.js';
import type { Span } from './span.js';
import type { Status } from './status.js';

/** What is asked of a store. The numbers are said on the wire, and do not change; 0 is none, as in memory where nothing was written. */
export const Operation = {
  GET: 1,
  SET: 2,
  /** SET, if the key is not there. */
  ADD: 3,
  DEL: 4,
  HAS: 5,
  /** SET, if the key has the version named. */
  CAS: 6,
  INCR: 7,
  /** Sets the time to live alone. */
  TOUCH: 8,
  /** The next keys in no order, from a cursor on: {@link Partition.scan}. */
  SCAN: 9,
} as const;
export type Operation = (typeof Operation)[keyof typeof Operation];

/** What is asked about one key. Fields that an operation does not take are not looked at. */
export interface KeyRequest {
  readonly operation: number;
  readonly key: Span;
  readonly value: Span;
  /** SET, ADD, CAS, TOUCH: milliseconds; 0 is for ever. */
  readonly ttlMs: number;
  readonly version: bigint;
  /** INCR: what is added; less than 0 to take away. */
  readonly delta: bigint;
}

export interface OperationRules {
  readonly name: keyof typeof Operation;
  /** Whether doing it twice is not the same as doing it once, or may undo what another did in between. */
  readonly changes: boolean;
  readonly hasValue: boolean;
  /** Whether {@link Partition.entry} shows an entry whose value is the answer. */
  readonly answersValue: boolean;
  /** How it is done; undefined for SCAN, which is about no one key. */
  readonly run: ((partition: Partition, request: KeyRequest, nowMs: number) => Status) | undefined;
}

const RULES: Readonly<Record<Operation, OperationRules>> = {
  [Operation.GET]: {
    name: 'GET',
    changes: false,
    hasValue: false,
    answersValue: true,
    run: (partition, { key }, nowMs) => partition.get(key, nowMs),
  },
  [Operation.SET]: {
    name: 'SET',
    changes: true,
    hasValue: true,
    answersValue: false,
    run: (partition, { key, value, ttlMs }, nowMs) => partition.set(key, value, nowMs, ttlMs),
  },
  [Operation.ADD]: {
    name: 'ADD',
    changes: true,
    hasValue: true,
    answersValue: false,
    run: (partition, { key, value, ttlMs }, nowMs) => partition.add(key, value, nowMs, ttlMs),
  },
  [Operation.DEL]: {
    name: 'DEL',
    changes: true,
    hasValue: false,
    answersValue: false,
    run: (partition, { key, version }, nowMs) => partition.delete(key, nowMs, version),
  },
  [Operation.HAS]: {
    name: 'HAS',
    changes: false,
    hasValue: false,
    answersValue: false,
    run: (partition, { key }, nowMs) => partition.has(key, nowMs),
  },
  [Operation.CAS]: {
    name: 'CAS',
    changes: true,
    hasValue: true,
    answersValue: false,
    run: (partition, { key, value, version, ttlMs }, nowMs) => partition.cas(key, value, version, nowMs, ttlMs),
  },
  [Operation.INCR]: {
    name: 'INCR',
    changes: true,
    hasValue: false,
    answersValue: true,
    run: (partition, { key, delta }, nowMs) => partition.incr(key, delta, nowMs),
  },
  [Operation.TOUCH]: {
    name: 'TOUCH',
    changes: true,
    hasValue: false,
    answersValue: false,
    run: (partition, { key, ttlMs }, nowMs) => partition.touch(key, ttlMs, nowMs),
  },
  [Operation.SCAN]: { name: 'SCAN', changes: false, hasValue: false, answersValue: false, run: undefined },
};

const byNumber: readonly (OperationRules | undefined)[] = Array.from(
  { length: 1 + Math.max(...Object.values(Operation)) },
  (_, operation) => (RULES as Readonly<Partial<Record<number, OperationRules>>>)[operation],
);

/** The rules of an operation; undefined for a number that is none. */
export function operationRules(operation: number): OperationRules | undefined {
  return byNumber[operation];
}
