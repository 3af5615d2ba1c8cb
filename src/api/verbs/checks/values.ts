import { isAddress, isU32, isWrId } from '../address.js';
import { invalid, type Problem } from '../errors.js';

const U24 = 0xffffff;

/** Whether `value` is an integer from `min` to `max`. */
export function isCount(value: unknown, min: number, max: number): value is number {
  return Number.isInteger(value) && typeof value === 'number' && value >= min && value <= max;
}

/** Why `value` is no whole number from `min` to `max`, or undefined when it is one. */
export function countProblem(what: string, value: unknown, min: number, max: number): Problem | undefined {
  if (isCount(value, min, max)) return undefined;
  return invalid(`${what} is ${show(value)}`, `It is a whole number from ${min} to ${max}`);
}

/** Whether `value` is an unsigned number of 24 bits: a QP number, an SRQ number. */
export function isU24(value: unknown): value is number {
  return isU32(value) && value <= U24;
}

/** Whether `value` has fields at all. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/**
 * Whether `value` is nothing, the one thing whose fields cannot even be asked for. Where a check of the fields refuses
 * all else that is not an object, this does for {@link isObject}, and costs less.
 */
export function isMissing(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** Whether `value` is a list. */
export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

export function show(value: unknown): string {
  switch (typeof value) {
    case 'bigint':
      // Addresses and wr_ids, nearly always.
      return `0x${value.toString(16)}`.replace('0x-', '-0x');
    case 'number':
    case 'boolean':
      return String(value);
    case 'string':
      return `'${value}'`;
    case 'undefined':
      return 'missing';
    case 'object':
      return value === null ? 'null' : 'an object';
    case 'function':
    case 'symbol':
      return `a ${typeof value}`;
  }
}

/** Why `value` cannot be looked into, or undefined when it can: the first check of whatever is an object. */
export function objectProblem(what: string, value: unknown): Problem | undefined {
  return isObject(value) ? undefined : invalid(`${what} is ${kindOf(value, 'an object')}`, 'It is an object');
}

/** Why `value` cannot be gone through, or undefined when it can. What is in it is looked at elsewhere. */
export function listProblem(what: string, value: unknown): Problem | undefined {
  return isList(value) ? undefined : invalid(`${what} is ${kindOf(value, 'a list')}`, 'It is an array');
}

/** Why `value` cannot be bytes, or undefined when it can. */
export function bytesProblem(what: string, value: unknown): Problem | undefined {
  return value instanceof Uint8Array ? undefined : invalid(`${what} is ${show(value)}`, 'It is a Uint8Array');
}

function kindOf(value: unknown, wanted: 'an object' | 'a list'): string {
  if (value === undefined) return 'missing';
  return value === null ? 'null' : `not ${wanted}`;
}

export function u32Problem(what: string, value: unknown): Problem {
  return invalid(`${what} is ${show(value)}`, 'It is a number of 32 bits: 0 to 4294967295');
}

export function u24Problem(what: string, value: unknown): Problem {
  return invalid(`${what} is ${show(value)}`, 'It is a number of 24 bits: 0 to 16777215');
}

/** Why `addr` cannot be an address; `what` names it in the sentence. */
export function addressProblem(what: string, addr: unknown): Problem {
  return invalid(`${what} is ${show(addr)}`, 'An address is a bigint of 64 bits or a safe integer, never negative');
}

/** Why `value` cannot be a request's id, or undefined when it can; one that is absent can. */
export function wrIdProblem(value: unknown): Problem | undefined {
  if (value === undefined || isWrId(value)) return undefined;
  return invalid(`wrId is ${show(value)}`, 'It is a bigint of 64 bits or a safe integer');
}

/** Why bits cannot be those of a table of flags, or undefined when they can. */
export function flagBitsProblem(what: string, table: string, known: number, value: unknown): Problem | undefined {
  if (!isU32(value)) return invalid(`${what} is ${show(value)}`, `It is bits of ${table}`);
  const unknown = (value & ~known) >>> 0;
  return unknown === 0 ? undefined : invalid(`${what} has bits that mean nothing: 0x${unknown.toString(16)}`);
}

export function allBits(table: Readonly<Record<string, number>>): number {
  return Object.values(table).reduce((mask, bit) => mask | bit, 0);
}

/** Why memory of the peer cannot be named so, or undefined; `where` is the request's field that does. */
export function remoteMemoryProblem(where: 'rdma' | 'atomic', remoteAddr: unknown, rkey: unknown): Problem | undefined {
  if (!isAddress(remoteAddr)) return addressProblem(`${where}.remoteAddr`, remoteAddr);
  return isU32(rkey) ? undefined : u32Problem(`${where}.rkey`, rkey);
}

/** What the device does not have. */
export function unsupported(message: string, advice = ''): Problem {
  return { errno: 'EOPNOTSUPP', message, advice };
}
