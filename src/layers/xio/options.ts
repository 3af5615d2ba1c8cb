import {
  countProblem,
  type FieldsOf,
  fieldsProblem,
  invalid,
  refuse,
  show,
  VerbsError,
} from '../../api/verbs/index.js';
import type { Bytes, XioConnectOptions, XioListenOptions, XioOptions } from './api.js';
import { copyOf, type Limits, MAX_PRIVATE_BYTES } from './wire/index.js';

const MIB = 1 << 20;

const DEFAULTS = {
  queueMessages: 1024,
  queueBytes: 64 * MIB,
  maxBodyBytes: 16 * MIB,
  maxHeaderBytes: 256,
  inlineBytes: 8192,
  keepAliveMs: 60_000,
  keepAliveIntervalMs: 20_000,
  keepAliveProbes: 3,
} as const;
const CLIENT_RECONNECT_MS = 30_000;
const SERVER_RECONNECT_MS = 60_000;
const MAX_MS = 2 ** 31 - 1;

/** What an end does where the program has said nothing else. */
export interface Settings {
  readonly limits: Limits;
  readonly inlineBytes: number;
  readonly keepAliveMs: number;
  readonly keepAliveIntervalMs: number;
  readonly keepAliveProbes: number;
  readonly reconnectMs: number;
  readonly onBody: XioOptions['onBody'];
}

const FIELDS: FieldsOf<XioOptions> = {
  queueMessages: true,
  queueBytes: true,
  maxBodyBytes: true,
  maxHeaderBytes: true,
  inlineBytes: true,
  keepAliveMs: true,
  keepAliveIntervalMs: true,
  keepAliveProbes: true,
  reconnectMs: true,
  onBody: true,
  context: true,
  open: true,
};

export const CONNECT_FIELDS: FieldsOf<XioConnectOptions> = {
  ...FIELDS,
  url: true,
  privateData: true,
  localAddress: true,
  connections: true,
  maxRedirects: true,
  connectTimeoutMs: true,
  signal: true,
};

export const LISTEN_FIELDS: FieldsOf<XioListenOptions> = {
  ...FIELDS,
  transport: true,
  host: true,
  port: true,
  maxSessions: true,
  signal: true,
};

/** @throws VerbsError EINVAL for what is no such options, or out of range */
export function settingsOf(
  call: string,
  options: XioOptions,
  fields: Readonly<Record<string, true>>,
  end: 'client' | 'server',
): Settings {
  refuse(call, fieldsProblem('options', options, fields));
  const { queueMessages = DEFAULTS.queueMessages, queueBytes = DEFAULTS.queueBytes } = options;
  const { maxBodyBytes = Math.min(DEFAULTS.maxBodyBytes, queueBytes), maxHeaderBytes = DEFAULTS.maxHeaderBytes } =
    options;
  const { inlineBytes = DEFAULTS.inlineBytes, keepAliveMs = DEFAULTS.keepAliveMs, onBody } = options;
  const { keepAliveIntervalMs = DEFAULTS.keepAliveIntervalMs, keepAliveProbes = DEFAULTS.keepAliveProbes } = options;
  const { reconnectMs = end === 'client' ? CLIENT_RECONNECT_MS : SERVER_RECONNECT_MS } = options;
  refuse(call, countProblem('queueMessages', queueMessages, 4, 65_535));
  refuse(call, countProblem('maxBodyBytes', maxBodyBytes, 0, 2 ** 30));
  refuse(call, countProblem('queueBytes', queueBytes, maxBodyBytes, 2 ** 40));
  refuse(call, countProblem('maxHeaderBytes', maxHeaderBytes, 0, 4096));
  refuse(call, countProblem('inlineBytes', inlineBytes, 0, 8192));
  refuse(call, countProblem('keepAliveProbes', keepAliveProbes, 1, 100));
  checkMs(call, 'keepAliveMs', keepAliveMs, 1, true);
  checkMs(call, 'keepAliveIntervalMs', keepAliveIntervalMs, 1, false);
  checkMs(call, 'reconnectMs', reconnectMs, 0, false);
  if (onBody !== undefined && typeof onBody !== 'function')
    throw new VerbsError(call, invalid('onBody is not a function', 'It takes a length, and gives memory'));
  const limits = { queueMessages, queueBytes, maxBodyBytes, maxHeaderBytes };
  return { limits, inlineBytes, keepAliveMs, keepAliveIntervalMs, keepAliveProbes, reconnectMs, onBody };
}

/** @throws VerbsError EINVAL for what is no number of ms */
export function checkMs(call: string, name: string, value: unknown, least: number, mayBeInfinite: boolean): void {
  if (value === Infinity && mayBeInfinite) return;
  if (typeof value === 'number' && value >= least && value <= MAX_MS) return;
  const advice = `It is a number of milliseconds from ${least} to ${MAX_MS}${mayBeInfinite ? ', or Infinity' : ''}`;
  throw new VerbsError(call, invalid(`${name} is ${show(value)}`, advice));
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

/** Private data. @throws VerbsError EINVAL likewise, and for too much of it */
export function privateDataOf(call: string, value: Bytes | undefined): Uint8Array {
  const bytes = bytesOf(call, 'privateData', value);
  if (bytes.length <= MAX_PRIVATE_BYTES) return copyOf(bytes);
  const message = `privateData has ${bytes.length} bytes`;
  throw new VerbsError(call, invalid(message, `It has ${MAX_PRIVATE_BYTES} at most`));
}
