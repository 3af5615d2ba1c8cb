import { Operation as StoreOperation, operationRules } from '../store/index.js';

/** What a request asks for: operations of a store, and NOOP. */
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
} as const;
export type Operation = (typeof Operation)[keyof typeof Operation];

/** The rules of an operation on the wire. */
export interface OperationRules {
  readonly name: string;
  readonly hasKey: boolean;
  /** Which way a value goes, and so what memory of the client's may be named for. */
  readonly value: 'none' | 'to the server' | 'to the client';
  /** Whether it changes the store: it is carried out once, and repeats are answered as the first one was. */
  readonly changes: boolean;
}

const NOOP: OperationRules = { name: 'NOOP', hasKey: false, value: 'none', changes: false };
const BY_NUMBER: readonly (OperationRules | undefined)[] = Array.from(
  { length: 1 + Math.max(...Object.values(Operation)) },
  (_, operation) => (operation === Operation.NOOP ? NOOP : ofStore(operation)),
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
  return { name, hasKey: true, value, changes };
}
