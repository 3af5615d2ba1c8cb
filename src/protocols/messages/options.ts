import { MAX_WINDOW } from '../core/index.js';
import { type FieldsOf, milliseconds, wholeNumber } from '../../api/verbs/index.js';
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

export const EXCHANGE_FIELDS: FieldsOf<ExchangeOptions> = {
  window: wholeNumber(MIN_WINDOW, MAX_WINDOW),
  maxMessageBytes: wholeNumber(1, MAX_MESSAGE_BYTES),
  keepAliveMs: milliseconds(1, 'orInfinity'),
};

/** What one end offers, and how often it probes a silent peer. */
export interface ConnectionPolicy {
  readonly own: Hello;
  readonly keepAliveMs: number;
}

/** @param options whose fields were checked */
export function policyOf(options: ExchangeOptions): ConnectionPolicy {
  const { window = DEFAULT_WINDOW, maxMessageBytes = DEFAULT_MESSAGE_BYTES, keepAliveMs = 30_000 } = options;
  return { own: { window: MIN_WINDOW, maxWindow: window, bufferBytes: BUFFER_BYTES, maxMessageBytes }, keepAliveMs };
}
