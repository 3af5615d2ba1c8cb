import { viewOf } from '../../../device/wire/index.js';
import { type ByteOrder, readSpan, type Span, writeSpan } from './connection-data.js';

/** A buffer that an end has mapped, in the table of its peer: `struct rs_iomap`. */
export interface IomapEntry {
  /** By which the peer names it, 64 bits. */
  readonly offset: bigint;
  readonly span: Span;
}

export const IOMAP_ENTRY_BYTES = 24;

/** @param order that of the host where it is written */
export function encodeIomapEntry({ offset, span }: IomapEntry, order: ByteOrder): Uint8Array {
  const bytes = new Uint8Array(IOMAP_ENTRY_BYTES);
  const view = viewOf(bytes);
  view.setBigUint64(0, offset, order === 'little');
  writeSpan(view, 8, span, order);
  return bytes;
}

/** @param order that of the host where it was written */
export function decodeIomapEntry(bytes: Uint8Array, order: ByteOrder): IomapEntry {
  const view = viewOf(bytes);
  return { offset: view.getBigUint64(0, order === 'little'), span: readSpan(view, 8, order) };
}

// Every message is an RDMA WRITE with immediate data: an operation in the upper 3 bits, a value in the rest (protocol/rsockets.md 5.2).

export const Operation = {
  /** The value is how many bytes were written, to the buffers that the receiver named. */
  DATA: 0,
  /** The value is, in its lower 16 bits, up to which message data is taken; 16 bytes may have been written that name a buffer. */
  SGL: 4,
  /** The value is an index; the entry of a mapped buffer was written there. */
  IOMAP_SGL: 6,
  /** The value is a {@link Control}; nothing is written. */
  CTRL: 7,
} as const;
export type Operation = (typeof Operation)[keyof typeof Operation];

export const Control = {
  /** Both directions have ended. */
  DISCONNECT: 0,
  KEEPALIVE: 1,
  SHUTDOWN: 2,
} as const;
export type Control = (typeof Control)[keyof typeof Control];

const VALUE_BITS = 29;
const VALUE_MASK = 2 ** VALUE_BITS - 1;

export interface OperationRules {
  readonly name: keyof typeof Operation;
  /** Whether it is counted: it may be sent only while the receiver takes another, and has told so. */
  readonly isCounted: boolean;
  /** The value that it has, where not every one makes sense. */
  readonly isValue: (value: number) => boolean;
}

const any = (): boolean => true;
const CONTROLS: readonly number[] = Object.values(Control);
/** C's rsockets add two numbers of 16 bits, and say the carry as well. */
const MAX_LIMIT = 2 * 0xffff;

const RULES: readonly (OperationRules | undefined)[] = [
  { name: 'DATA', isCounted: true, isValue: any },
  undefined,
  // A mark of the C library's own, for itself.
  undefined,
  undefined,
  { name: 'SGL', isCounted: false, isValue: (value) => value <= MAX_LIMIT },
  undefined,
  { name: 'IOMAP_SGL', isCounted: true, isValue: any },
  { name: 'CTRL', isCounted: false, isValue: (value) => CONTROLS.includes(value) },
];

/** The rules of an operation; undefined for one that nobody sends. */
export function rulesOf(operation: number): OperationRules | undefined {
  return RULES[operation];
}

/** @param value 29 bits */
export function immediateOf(operation: Operation, value: number): number {
  return ((operation << VALUE_BITS) | (value & VALUE_MASK)) >>> 0;
}

/** 0 to 7. */
export function operationOf(immediate: number): number {
  return immediate >>> VALUE_BITS;
}

export function valueOf(immediate: number): number {
  return immediate & VALUE_MASK;
}

/** Why an immediate is of no message; undefined when it is. */
export function immediateProblem(immediate: number): string | undefined {
  const operation = operationOf(immediate);
  const value = valueOf(immediate);
  const rules = rulesOf(operation);
  if (rules === undefined) return `there is no operation ${operation}`;
  return rules.isValue(value) ? undefined : `${rules.name} with value ${value}`;
}
