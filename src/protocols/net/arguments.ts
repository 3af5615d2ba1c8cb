import { badPort, coded, outOfRange, wrongType, wrongValue } from './errors.js';
import { isIP } from 'node:net';
import type { FullAddress } from '../../api/rdmacm/index.js';

/** Where a socket or a server is, as `address()` tells. */
export interface SocketAddressInfo {
  readonly address: string;
  readonly family: 'IPv4' | 'IPv6';
  readonly port: number;
}

export function familyOf(host: string): 'IPv4' | 'IPv6' {
  return isIP(host) === 6 ? 'IPv6' : 'IPv4';
}

/** An address as `address()` tells it. */
export function infoOf({ host, port }: FullAddress): SocketAddressInfo {
  return { address: host, family: familyOf(host), port };
}

/** What a program gave, before anybody has looked at it. */
export type Given = Readonly<Record<string, unknown>>;

const MAX_PORT = 65_535;
/** The longest that a timer of Node's waits. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export function isGiven(value: unknown): value is Given {
  return typeof value === 'object' && value !== null;
}

/** Whether a string is the path of a pipe to `node:net`: it is no number. */
function isPath(value: unknown): boolean {
  return typeof value === 'string' && !(Number(value) >= 0);
}

/**
 * `(options, callback?)`, `(port, host?, callback?)`, `(path, callback?)`: all as options, and the last argument where it is a function.
 */
export function normalized(args: readonly unknown[]): [options: Given, callback: (() => void) | undefined] {
  const last = args.at(-1);
  // Node calls whatever function comes last; what it is called with is said where it is.
  const callback = typeof last === 'function' ? (last as () => void) : undefined;
  const [first, second] = args;
  if (args.length === 0) return [{}, callback];
  if (isGiven(first)) return [first, callback];
  if (isPath(first)) return [{ path: first }, callback];
  return [{ port: first, ...(typeof second === 'string' && { host: second }) }, callback];
}

/** A port: a number, or a string that says one. @throws RangeError ERR_SOCKET_BAD_PORT */
export function checkPort(what: string, value: unknown): number {
  const isText = typeof value === 'string' && value.trim() !== '';
  const port = isText ? Number(value) : value;
  if (typeof port === 'number' && Number.isInteger(port) && port >= 0 && port <= MAX_PORT) return port;
  throw badPort(what, value);
}

export function checkFunction(what: string, value: unknown): void {
  if (typeof value !== 'function') throw wrongType(what, 'of type function', value);
}

export function checkString(what: string, value: unknown): void {
  if (typeof value !== 'string') throw wrongType(what, 'of type string', value);
}

export function checkSignal(what: string, value: unknown): asserts value is AbortSignal {
  if (!(value instanceof AbortSignal)) throw wrongType(what, 'an instance of AbortSignal', value);
}

/** Milliseconds for a timer, 0 for none. @throws TypeError ERR_INVALID_ARG_TYPE; RangeError ERR_OUT_OF_RANGE */
export function checkTimeout(what: string, value: unknown): number {
  if (typeof value !== 'number') throw wrongType(what, 'of type number', value);
  if (!(value >= 0 && Number.isFinite(value))) throw outOfRange(what, 'a non-negative finite number', value);
  return Math.min(value, MAX_TIMEOUT_MS);
}

/** What `node:net` has and an adapter does not: paths, descriptors and handles of the system. */
const OF_THE_SYSTEM = ['path', 'fd', 'handle'] as const;

/** @throws Error ENOTSUP for what belongs to the system's own sockets */
export function refuseSystemSockets(options: Given): void {
  for (const what of OF_THE_SYSTEM) {
    if (options[what] === undefined || options[what] === null) continue;
    const advice = 'A socket over RDMA has a host and a port; use node:net for paths and descriptors';
    throw coded(new Error(`options.${what} is not supported. ${advice}`), 'ENOTSUP');
  }
}

/** Options that make streams of objects, which a socket is not. */
const OF_OBJECTS = ['objectMode', 'readableObjectMode', 'writableObjectMode'] as const;

/** @throws TypeError ERR_INVALID_ARG_VALUE */
export function refuseObjectModes(options: Given): void {
  for (const what of OF_OBJECTS)
    if (options[what] === true) throw wrongValue(`options.${what}`, 'is not supported: a socket carries bytes', true);
}
