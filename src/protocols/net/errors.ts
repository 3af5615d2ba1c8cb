import { Errno, type ErrnoName } from '../../device/ibta/index.js';
import { show, VerbsError } from '../../api/verbs/index.js';

/** A mistake of the caller, with a code of Node's (`ERR_INVALID_ARG_TYPE`, say). */
export type CodedError<E extends Error = Error> = E & { readonly code: string };

/** Gives an error a code of Node's. */
export function coded<E extends Error>(error: E, code: string): CodedError<E> {
  return Object.assign(error, { code });
}

/** A value as Node's own sentences show it. */
function received(value: unknown): string {
  if (value === null || value === undefined) return `Received ${String(value)}`;
  if (typeof value === 'function') return `Received function ${value.name}`;
  if (typeof value === 'object') return `Received an instance of ${value.constructor.name}`;
  if (typeof value === 'string') return `Received type string ('${value}')`;
  return `Received ${show(value)}`;
}

export function wrongType(what: string, expected: string, value: unknown): CodedError<TypeError> {
  return coded(new TypeError(`${what} must be ${expected}. ${received(value)}`), 'ERR_INVALID_ARG_TYPE');
}

export function wrongValue(what: string, reason: string, value: unknown): CodedError<TypeError> {
  return coded(new TypeError(`${what} ${reason}. ${received(value)}`), 'ERR_INVALID_ARG_VALUE');
}

export function outOfRange(what: string, range: string, value: unknown): CodedError<RangeError> {
  return coded(new RangeError(`${what} must be ${range}. ${received(value)}`), 'ERR_OUT_OF_RANGE');
}

export function badPort(what: string, value: unknown): CodedError<RangeError> {
  return coded(new RangeError(`${what} must be from 0 to 65535. ${received(value)}`), 'ERR_SOCKET_BAD_PORT');
}

/** The code of an error, where it has one. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** What a failed call of sockets looks like in Node. */
export interface SystemError extends Error {
  /** `ECONNREFUSED` and so on. */
  readonly code: string;
  /** Linux's number of it, negative, as in Node. */
  readonly errno: number;
  /** `connect`, `listen`, `read` or `write`. */
  readonly syscall: string;
  readonly address?: string;
  readonly port?: number;
}

export interface Place {
  readonly address: string;
  readonly port: number;
}

function isErrno(code: unknown): code is ErrnoName {
  return typeof code === 'string' && Object.hasOwn(Errno, code);
}

/**
 * The error of a call in Node's shape; why it came to that is its `cause`.
 *
 * @param code in place of that of the cause
 * @returns the cause itself when it is no error of a call
 */
export function systemError(syscall: string, cause: unknown, place?: Place, code?: string): Error {
  if (cause instanceof VerbsError) return failed(syscall, code ?? cause.errno, place, cause);
  return cause instanceof Error ? cause : new Error(String(cause));
}

export function failed(syscall: string, code: string, place?: Place, cause?: Error): SystemError {
  const where = place === undefined ? '' : ` ${place.address}:${place.port}`;
  const error = new Error(`${syscall} ${code}${where}`, cause && { cause });
  return Object.assign(error, { code, errno: isErrno(code) ? -Errno[code] : 0, syscall, ...place });
}

/** The socket was destroyed, or was never connected. */
export function closed(): Error & { readonly code: string } {
  return coded(new Error('Socket is closed'), 'ERR_SOCKET_CLOSED');
}

/** A write after the peer has ended, and this end with it. */
export function endedByPeer(): Error & { readonly code: string } {
  return coded(new Error('This socket has been ended by the other party'), 'EPIPE');
}
