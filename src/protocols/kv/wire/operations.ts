import { Operation as StoreOperation, operationRules } from '../store/index.js';

/** What a request asks for: operations of a store, and what is asked about it. */
export const Operation = {
  /** Nothing: the client is there. */
  NOOP: 0,
  GET: StoreOperation.GET,
  SET: StoreOperation.SET,
  ADD: StoreOperation.ADD,
  DEL: StoreOperation.DEL,
  HAS: StoreOperation.HAS,
  CAS: StoreOperation.CAS,
  INCR: StoreOperation.INCR,
  TOUCH: StoreOperation.TOUCH,
  SCAN: StoreOperation.SCAN,
  /** Whether a key is there, or why not. */
  EXPLAIN: 10,
  /** How long an entry has to live. */
  TTL: 11,
  /** What the server and the store have counted. */
  STATS: 12,
  /** Where the store lies, for clients that read it by themselves. */
  LAYOUT: 13,
} as const;
export type Operation = (typeof Operation)[keyof typeof Operation];

export interface OperationRules {
  readonly name: string;
  /** `prefix`: of the keys that are meant; it may have no bytes. */
  readonly key: 'none' | 'one' | 'prefix';
  /** Which way a value goes, and so what memory of the client's may be named for. */
  readonly value: 'none' | 'to the server' | 'to the client';
  /** Whether it changes the store: it is carried out once, and repeats are answered as the first one was. */
  readonly changes: boolean;
}

const ASKS = { key: 'none', value: 'none', changes: false } as const;
/** Those that no store has a number for, and SCAN, which is about many keys. */
const OWN: Readonly<Partial<Record<number, OperationRules>>> = {
  [Operation.NOOP]: { ...ASKS, name: 'NOOP' },
  [Operation.SCAN]: { ...ASKS, name: 'SCAN', key: 'prefix' },
  [Operation.EXPLAIN]: { ...ASKS, name: 'EXPLAIN', key: 'one' },
  [Operation.TTL]: { ...ASKS, name: 'TTL', key: 'one' },
  [Operation.STATS]: { ...ASKS, name: 'STATS' },
  [Operation.LAYOUT]: { ...ASKS, name: 'LAYOUT' },
};
const BY_NUMBER: readonly (OperationRules | undefined)[] = Array.from(
  { length: 1 + Math.max(...Object.values(Operation)) },
  (_, operation) => OWN[operation] ?? ofStore(operation),
);

/** @param operation any byte. @returns undefined for one that there is not */
export function rulesOf(operation: number): OperationRules | undefined {
  return BY_NUMBER[operation];
}

function ofStore(operation: number): OperationRules | undefined {
  const rules = operationRules(operation);
  if (rules === undefined) return undefined;
  const { name, changes, hasValue } = rules;
  const value = hasValue ? 'to the server' : operation === Operation.GET ? 'to the client' : 'none';
  return { name, key: 'one', value, changes };
}
