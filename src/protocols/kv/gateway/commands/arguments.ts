import { ErrorReply } from '../resp/reply.js';
import { CommandError } from './command.js';

/** The longest time to live that the store's wire has room for. */
const MAX_TTL_MS = 2 ** 32 - 1;
const MIN_INTEGER = -(2n ** 63n);
const MAX_INTEGER = 2n ** 63n - 1n;
const INTEGER = /^(?:0|-?[1-9]\d{0,18})$/;
const LOWER_A = 97;
const LOWER_Z = 122;

export const SYNTAX_ERROR = new ErrorReply('ERR syntax error');
export const NO_INTEGER = new ErrorReply('ERR value is not an integer or out of range');

/** Bytes as text, each a letter: what commands and their options are made of. */
export function textOf(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

export function wordOf(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte >= LOWER_A && byte <= LOWER_Z ? byte - 32 : byte);
  return text;
}

/** What a client has sent, as it may stand in an answer's line. */
export function shown(bytes: Uint8Array): string {
  return textOf(bytes.subarray(0, 128)).replaceAll(/[^\x20-\x7e]/g, '?');
}

/** @throws CommandError for what is no integer of 64 bits */
export function integerOf(bytes: Uint8Array): bigint {
  const text = bytes.length > 20 ? '' : textOf(bytes);
  const integer = INTEGER.test(text) ? BigInt(text) : undefined;
  if (integer === undefined || integer < MIN_INTEGER || integer > MAX_INTEGER) throw new CommandError(NO_INTEGER);
  return integer;
}

/** @throws CommandError for what is no whole number from `least` to `most` */
export function countOf(bytes: Uint8Array, least: number, most: number): number {
  const integer = integerOf(bytes);
  if (integer < BigInt(least) || integer > BigInt(most)) throw new CommandError(NO_INTEGER);
  return Number(integer);
}

/** How a time is given: in which unit, and whether from now on or since 1970. */
export interface TimeUnit {
  readonly ms: number;
  readonly isAbsolute: boolean;
}

export const TIME_OPTIONS: Readonly<Record<string, TimeUnit | undefined>> = {
  EX: { ms: 1000, isAbsolute: false },
  PX: { ms: 1, isAbsolute: false },
  EXAT: { ms: 1000, isAbsolute: true },
  PXAT: { ms: 1, isAbsolute: true },
};

/**
 * A time from now on, in ms; 0 where that is over.
 *
 * @throws CommandError for a number that is not one, or a time that is too far
 */
export function timeLeftOf(bytes: Uint8Array, { ms: unitMs, isAbsolute }: TimeUnit, command: string): number {
  const ms = integerOf(bytes) * BigInt(unitMs);
  const leftMs = isAbsolute ? ms - BigInt(Date.now()) : ms;
  if (ms < MIN_INTEGER || leftMs > BigInt(MAX_TTL_MS)) throw new CommandError(invalidTime(command));
  return leftMs <= 0n ? 0 : Number(leftMs);
}

/** As {@link timeLeftOf}, of an option: what it gives is above 0. */
export function optionTimeOf(bytes: Uint8Array, unit: TimeUnit, command: string): number {
  if (integerOf(bytes) <= 0n) throw new CommandError(invalidTime(command));
  return timeLeftOf(bytes, unit, command);
}

/**
 * A time to live, in ms.
 *
 * @param unitMs of what the argument counts
 * @throws CommandError for one that is not above 0, or too long
 */
export function lifetimeOf(bytes: Uint8Array, unitMs: number, command: string): number {
  const ms = integerOf(bytes) * BigInt(unitMs);
  if (ms <= 0n || ms > BigInt(MAX_TTL_MS)) throw new CommandError(invalidTime(command));
  return Number(ms);
}

export function invalidTime(command: string): ErrorReply {
  return new ErrorReply(`ERR invalid expire time in '${command}' command (the longest is ${MAX_TTL_MS} ms)`);
}
