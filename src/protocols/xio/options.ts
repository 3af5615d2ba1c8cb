import {
  callback,
  countProblem,
  type Fields,
  type FieldsOf,
  fieldsProblem,
  invalid,
  milliseconds,
  refuse,
  show,
  VerbsError,
  wholeNumber,
} from '../../api/verbs/index.js';
import type {
  Bytes,
  XioBody,
  XioConnectOptions,
  XioLanding,
  XioListenOptions,
  XioOptions,
  XioPlacement,
} from './api.js';
import { ReceiveBufferPool } from './session/receive-buffer-pool.js';
import { type Body, bodyOf, copyOf, type Limits, MAX_PIECES, MAX_PRIVATE_BYTES } from './wire/index.js';

const MIB = 1 << 20;

const MAX_BODY_BYTES = 2 ** 30;
const CLIENT_RECONNECT_MS = 30_000;
const SERVER_RECONNECT_MS = 60_000;

/** What an end does where the program has said nothing else. */
export interface Settings {
  readonly limits: Limits;
  readonly inlineBytes: number;
  readonly keepAliveMs: number;
  readonly keepAliveIntervalMs: number;
  readonly keepAliveProbes: number;
  readonly reconnectMs: number;
  readonly onBody: XioOptions['onBody'];
  /** Where long bodies lie otherwise. */
  readonly landings: ReceiveBufferPool;
}

export const CONTEXT_FIELDS: FieldsOf<Omit<XioOptions, 'onBody'>> = {
  queueMessages: wholeNumber(4, 65_535),
  queueBytes: true,
  maxBodyBytes: wholeNumber(0, MAX_BODY_BYTES),
  maxHeaderBytes: wholeNumber(0, 4096),
  inlineBytes: wholeNumber(0, 8192),
  keepAliveMs: milliseconds(1, 'orInfinity'),
  keepAliveIntervalMs: milliseconds(1),
  keepAliveProbes: wholeNumber(1, 100),
  reconnectMs: milliseconds(0),
  context: true,
  open: true,
};
const FIELDS: FieldsOf<XioOptions> = {
  ...CONTEXT_FIELDS,
  onBody: callback('It takes a length, and gives memory'),
};

export const CONNECT_FIELDS: FieldsOf<XioConnectOptions> = {
  ...FIELDS,
  url: true,
  privateData: true,
  localAddress: true,
  connections: true,
  maxRedirects: true,
  connectTimeoutMs: milliseconds(1),
  answerTimeoutMs: milliseconds(1, 'orInfinity'),
  signal: true,
};

export const LISTEN_FIELDS: FieldsOf<XioListenOptions> = {
  ...FIELDS,
  transport: true,
  host: true,
  port: true,
  maxSessions: true,
  backlog: true,
  answerTimeoutMs: milliseconds(1, 'orInfinity'),
  signal: true,
};

/** @throws VerbsError EINVAL for what is no such options, or out of range */
export function settingsOf(call: string, options: XioOptions, fields: Fields, end: 'client' | 'server'): Settings {
  refuse(call, fieldsProblem('options', options, fields));
  const { queueMessages = 1024, queueBytes = 64 * MIB, maxHeaderBytes = 256, inlineBytes = 8192, onBody } = options;
  const { maxBodyBytes = Math.min(16 * MIB, queueBytes), keepAliveMs = 60_000, keepAliveIntervalMs = 20_000 } = options;
  const { keepAliveProbes = 3, reconnectMs = end === 'client' ? CLIENT_RECONNECT_MS : SERVER_RECONNECT_MS } = options;
  refuse(call, countProblem('queueBytes', queueBytes, maxBodyBytes, 2 ** 40));
  const limits = { queueMessages, queueBytes, maxBodyBytes, maxHeaderBytes };
  const keepAlive = { keepAliveMs, keepAliveIntervalMs, keepAliveProbes };
  return { limits, inlineBytes, ...keepAlive, reconnectMs, onBody, landings: new ReceiveBufferPool() };
}

/** @throws VerbsError EINVAL for what is no number of ms */
export function checkMs(call: string, name: string, value: unknown, least: number, mayBeInfinite: boolean): void {
  refuse(call, milliseconds(least, mayBeInfinite ? 'orInfinity' : undefined)(name, value));
}

const NOTHING = new Uint8Array(0);
const encoder = new TextEncoder();

/** Headers and bodies as bytes. @throws VerbsError EINVAL for what is neither text nor bytes */
export function bytesOf(call: string, name: string, value: Bytes | undefined): Uint8Array {
  if (value === undefined) return NOTHING;
  if (typeof value === 'string') return encoder.encode(value);
  if (value instanceof Uint8Array) return value;
  throw new VerbsError(call, invalid(`${name} is ${show(value)}`, 'It is a Uint8Array, or text'));
}

/** A body, in one piece or several. @throws VerbsError EINVAL likewise, and for too many pieces */
export function bodyFrom(call: string, name: string, value: XioBody | undefined): Body {
  if (!isList(value)) return bytesOf(call, name, value);
  checkPieces(call, name, value);
  return bodyOf(value.map((piece) => bytesOf(call, `a piece of ${name}`, piece)));
}

/** Where a body is to lie. @throws VerbsError EINVAL for what is no memory */
export function landingFrom(call: string, name: string, value: XioLanding): Body {
  const pieces: readonly unknown[] = isList(value) ? value : [value];
  checkPieces(call, name, pieces);
  const memory = pieces.map((piece) => {
    if (piece instanceof Uint8Array) return piece;
    throw new VerbsError(call, invalid(`${name} has ${show(piece)}`, 'It is a Uint8Array, or several'));
  });
  return memory.length === 1 ? memory[0] : bodyOf(memory);
}

/** @throws VerbsError EINVAL for what is no placement */
export function isApart(call: string, name: string, placement: XioPlacement | undefined): boolean {
  if (placement === undefined || placement === 'auto') return false;
  const given: unknown = placement;
  if (given === 'rdma') return true;
  throw new VerbsError(call, invalid(`${name} is ${show(given)}`, 'It is auto or rdma'));
}

function isList<T>(value: T | readonly T[] | undefined): value is readonly T[] {
  return Array.isArray(value);
}

function checkPieces(call: string, name: string, pieces: readonly unknown[]): void {
  if (pieces.length <= MAX_PIECES) return;
  throw new VerbsError(call, invalid(`${name} has ${pieces.length} pieces`, `It has ${MAX_PIECES} at most`));
}

/** Private data. @throws VerbsError EINVAL likewise, and for too much of it */
export function privateDataOf(call: string, value: Bytes | undefined): Uint8Array {
  const bytes = bytesOf(call, 'privateData', value);
  if (bytes.length <= MAX_PRIVATE_BYTES) return copyOf(bytes);
  const message = `privateData has ${bytes.length} bytes`;
  throw new VerbsError(call, invalid(message, `It has ${MAX_PRIVATE_BYTES} at most`));
}
