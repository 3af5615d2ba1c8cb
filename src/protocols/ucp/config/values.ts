import { RNDV_SCHEMES, type RndvScheme } from '../protocol/index.js';

/** What a setting's text means, or a sentence that says what it should be. */
export type Parsed<T> = { readonly value: T } | string;

/** Reads the text of a setting. The texts are UCX's: ucs/sys/string.c and ucs/config/parser.c of 1.13. */
export type Parser<T> = (text: string) => Parsed<T>;

const AUTO = 'auto';
const INFINITE = 'inf';

const BYTES: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };
const MS: Readonly<Record<string, number>> = { '': 1000, m: 60_000, s: 1000, ms: 1, us: 1e-3, ns: 1e-6 };

/** A length as UCX writes it: "8k", "1m", "inf"; undefined for "auto". */
export const memorySize: Parser<number | undefined> = (text) => {
  const word = text.toLowerCase();
  if (word === AUTO) return { value: undefined };
  if (word === INFINITE) return { value: Infinity };
  const [, digits, prefix] = /^(\d+)([kmgt]?)b?$/.exec(word) ?? ['', 'nothing', ''];
  const value = Number(digits) * BYTES[prefix];
  return Number.isSafeInteger(value) ? { value } : 'It is a number of bytes as 8k, 1m, inf or auto';
};

/** A time as UCX writes it: "20s", "100ms", "inf"; without a unit, seconds. In whole ms, 1 or more. */
export const time: Parser<number> = (text) => {
  const word = text.toLowerCase();
  if (word === INFINITE) return { value: Infinity };
  const [, digits, unit] = /^(\d+(?:\.\d+)?)(m?|s|ms|us|ns)$/.exec(word) ?? ['', 'nothing', ''];
  const value = Number(digits) * MS[unit];
  return Number.isFinite(value) && value > 0 ? { value: Math.ceil(value) } : 'It is a time as 20s, 100ms or inf';
};

export const count =
  (least: number, most: number): Parser<number> =>
  (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    return value >= least && value <= most ? { value } : `It is a number, ${least} to ${most}`;
  };

export const rndvScheme: Parser<RndvScheme> = (text) => {
  const value = RNDV_SCHEMES.find((scheme) => scheme === text.toLowerCase());
  return value === undefined ? `It is one of ${RNDV_SCHEMES.join(', ')}` : { value };
};

const LOG_LEVELS = [
  'fatal',
  'error',
  'warn',
  'diag',
  'info',
  'debug',
  'trace',
  'req',
  'data',
  'async',
  'func',
  'poll',
] as const;

/** What a log says, and all that stands before it in UCX's list: ucs/config/types.h. */
export type LogLevel = (typeof LOG_LEVELS)[number];

export const logLevel: Parser<LogLevel> = (text) => {
  const value = LOG_LEVELS.find((level) => level === text.toLowerCase());
  return value === undefined ? `It is one of ${LOG_LEVELS.join(', ')}` : { value };
};

export function isLogged(level: LogLevel, what: LogLevel): boolean {
  return LOG_LEVELS.indexOf(what) <= LOG_LEVELS.indexOf(level);
}

/** `stdout`, as well where it is empty, `stderr`, or a path. */
export const logFile: Parser<string> = (text) =>
  text.includes('\0') ? 'It is stdout, stderr, or the path of a file' : { value: text === '' ? 'stdout' : text };

const YES: readonly string[] = ['y', 'yes', 'on', '1'];
export const NO: readonly string[] = ['n', 'no', 'off', '0'];

export const yesOrNo: Parser<boolean> = (text) => {
  const word = text.toLowerCase();
  return YES.includes(word) || NO.includes(word) ? { value: YES.includes(word) } : 'It is y or n';
};

/** How messages go to other workers. */
export type TransportName = 'rc' | 'ud';

const ALL: readonly TransportName[] = ['rc', 'ud'];

/** What there is here of what UCX's names mean. */
const TRANSPORTS: Readonly<Record<string, readonly TransportName[]>> = {
  all: ALL,
  ib: ALL,
  rc: ['rc'],
  rc_v: ['rc'],
  rc_verbs: ['rc'],
  ud: ['ud'],
  ud_v: ['ud'],
  ud_verbs: ['ud'],
};
const TRANSPORT_ADVICE =
  'Name rc (rc_v, rc_verbs) or ud (ud_v, ud_verbs); the way of a worker to itself is always there';

/** A list of transports, the best first; or with a `^` before it those that are not to be. undefined where all of it is `self`. */
export const transports: Parser<TransportName | undefined> = (text) => {
  const isWithout = text.startsWith('^');
  const names = (isWithout ? text.slice(1) : text).split(',').filter((name) => name !== '');
  const named = names.flatMap((name) => (Object.hasOwn(TRANSPORTS, name) ? TRANSPORTS[name] : []));
  const value = isWithout ? ALL.find((name) => !named.includes(name)) : named.at(0);
  const isSelf = !isWithout && names.length > 0 && names.every((name) => name === 'self');
  return value === undefined && !isSelf ? TRANSPORT_ADVICE : { value };
};
