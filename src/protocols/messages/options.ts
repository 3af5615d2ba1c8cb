import { MAX_WINDOW } from '../core/index.js';
import { countProblem, type FieldsOf, invalid, refuse, show, VerbsError } from '../../api/verbs/index.js';
import {
  BUFFER_BYTES,
  DEFAULT_MESSAGE_BYTES,
  DEFAULT_WINDOW,
  type Hello,
  MAX_MESSAGE_BYTES,
  MIN_WINDOW,
} from './protocol/hello.js';

/** What an end takes of its peer. Each end chooses for itself. */
export interface ExchangeOptions {
  /**
   * Buffers of 4 KiB that the peer may fill before this program takes anything, at most: 4 to 32767; default 64. A connection begins with 4 and
   * gets more as it needs them.
   */
  readonly window?: number | undefined;
  /** The longest message, in bytes: 1 to 2^30; default 16 MiB. A peer can make this program hold as much. */
  readonly maxMessageBytes?: number | undefined;
  /**
   * Milliseconds that a peer may be silent while nothing is sent to it, before its adapter is asked whether it is there: 1 to 2^31 - 1; default 30 000.
   * One that does not answer for its retransmissions, some 4 s, is lost. Infinity: it is never asked.
   */
  readonly keepAliveMs?: number | undefined;
}

export const EXCHANGE_FIELDS: FieldsOf<ExchangeOptions> = { window: true, maxMessageBytes: true, keepAliveMs: true };

const KEEP_ALIVE_MS = 30_000;
/** The longest that timers of Node's can wait. */
const MAX_KEEP_ALIVE_MS = 2 ** 31 - 1;

/** What an end says of itself. @throws VerbsError EINVAL for numbers out of range */
export function helloOf(call: string, options: ExchangeOptions): Hello {
  const { window = DEFAULT_WINDOW, maxMessageBytes = DEFAULT_MESSAGE_BYTES } = options;
  refuse(call, countProblem('window', window, MIN_WINDOW, MAX_WINDOW));
  refuse(call, countProblem('maxMessageBytes', maxMessageBytes, 1, MAX_MESSAGE_BYTES));
  return { window: MIN_WINDOW, maxWindow: window, bufferBytes: BUFFER_BYTES, maxMessageBytes };
}

/** How long a peer may be silent. @throws VerbsError EINVAL for what is none */
export function keepAliveOf(call: string, { keepAliveMs = KEEP_ALIVE_MS }: ExchangeOptions): number {
  if (keepAliveMs === Infinity) return keepAliveMs;
  if (typeof keepAliveMs === 'number' && keepAliveMs >= 1 && keepAliveMs <= MAX_KEEP_ALIVE_MS) return keepAliveMs;
  const advice = `It is a number of milliseconds from 1 to ${MAX_KEEP_ALIVE_MS}, or Infinity`;
  throw new VerbsError(call, invalid(`keepAliveMs is ${show(keepAliveMs)}`, advice));
}
