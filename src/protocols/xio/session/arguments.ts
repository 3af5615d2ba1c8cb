import { invalid, show, VerbsError } from '../../../api/verbs/index.js';
import type { XioBody, XioParts, XioSendOptions } from '../api.js';
import { checkMs } from '../options.js';
import { type Body, decodeGrantToken, lengthOf } from '../wire/index.js';

/** What is to be read or written. @throws VerbsError EINVAL */
export function directPlace(call: string, token: Uint8Array, offset: number, memory: Body) {
  const given: unknown = token;
  const grant = given instanceof Uint8Array ? decodeGrantToken(given) : undefined;
  if (grant === undefined)
    throw new VerbsError(call, invalid(`token is ${show(given)}`, 'It is the token of a share of the peer'));
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw new VerbsError(call, invalid(`offset is ${show(offset)}`, 'It is a number of bytes from 0 on'));
  const { id, length, connection } = grant;
  if (offset + lengthOf(memory) > length)
    throw new VerbsError(call, invalid(`${lengthOf(memory)} bytes at ${offset} are not within ${length}`));
  return { id, offset, memory, connection };
}

export function isBody(message: XioBody | XioParts): message is XioBody {
  return typeof message === 'string' || message instanceof Uint8Array || Array.isArray(message);
}

/** @throws VerbsError EINVAL; the signal's reason where it is aborted */
export function checkWaits(call: string, { signal, deadlineMs }: Pick<XioSendOptions, 'signal' | 'deadlineMs'>): void {
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new VerbsError(call, invalid(`signal is ${show(signal)}`, 'It is an AbortSignal'));
  signal?.throwIfAborted();
  if (deadlineMs !== undefined) checkMs(call, 'deadlineMs', deadlineMs, 0, true);
}

/** What a program has thrown, which may be anything. */
export function textOf(error: unknown): string {
  try {
    const text: unknown = error instanceof Error ? error.message : error;
    return String(text);
  } catch {
    return 'something was thrown that has no text';
  }
}
