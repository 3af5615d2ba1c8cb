import { secretWord } from '../../../../api/provider/index.js';
import { type Context, invalid, refuse, show } from '../../../../api/verbs/index.js';
import { MAX_WINDOW, MIN_WINDOW } from './windows.js';

export interface UdOptions {
  /** Datagrams that may be under way to a peer, 2 to 1025. Default 256. */
  readonly window?: number;
  /** Datagrams that may come before any is looked at, 1 to 16,384. Default 512. */
  readonly receives?: number;
  /** ms that a peer may be silent while something is waited for: then its endpoint fails with UCS_ERR_ENDPOINT_TIMEOUT. Default 30 s. */
  readonly timeoutMs?: number;
  /** ms without anything of a peer's after which it is to show that it lives; Infinity: never. Default 20 s. */
  readonly keepAliveMs?: number;
  /** Endpoints that there may be, 1 to 2^20. Default 4096. */
  readonly maxEndpoints?: number;
  /** Those of them that peers have asked for, and whose answers they have not acknowledged: the oldest gives way. 1 to 2^20. Default 64. */
  readonly maxHalfOpen?: number;
  /** 32 bits, for tests that are to run the same again. */
  readonly random?: () => number;
}

const MOST_ENDPOINTS = 2 ** 20;

/** What each number may be. */
const RANGES: Readonly<Record<Exclude<keyof UdOptions, 'random'>, readonly [least: number, most: number]>> = {
  window: [MIN_WINDOW, MAX_WINDOW],
  receives: [1, 16_384],
  timeoutMs: [1, Infinity],
  keepAliveMs: [1, Infinity],
  maxEndpoints: [1, MOST_ENDPOINTS],
  maxHalfOpen: [1, MOST_ENDPOINTS],
};

const DEFAULTS: Required<Omit<UdOptions, 'random'>> = {
  window: 256,
  receives: 512,
  timeoutMs: 30_000,
  keepAliveMs: 20_000,
  maxEndpoints: 4096,
  maxHalfOpen: 64,
};

/** All of them. @throws VerbsError EINVAL for numbers that make no sense */
export function udOptions(options: UdOptions, context?: Context): Required<UdOptions> {
  const all = { ...DEFAULTS, random: () => secretWord(context), ...options };
  // The keys of an object of ours are those that its type names.
  for (const name of Object.keys(RANGES) as (keyof typeof RANGES)[]) {
    const [least, most] = RANGES[name];
    const value = all[name];
    const isGood = value === Infinity ? most === Infinity : Number.isInteger(value) && value >= least && value <= most;
    const advice = most === Infinity ? `It is ${least} or more` : `It is ${least} to ${most}`;
    if (!isGood) refuse('ucp', invalid(`options.${name} is ${show(value)}`, advice));
  }
  return all;
}
