import { type FieldsOf, fieldsProblem, invalid, refuse, show, VerbsError } from '../../../api/verbs/index.js';
import type { RndvScheme } from '../protocol/index.js';
import {
  count,
  logFile,
  type LogLevel,
  logLevel,
  memorySize,
  type Parser,
  rndvScheme,
  time,
  type TransportName,
  transports,
  yesOrNo,
} from './values.js';

/** A value as UCX writes it: "8k", "inf", "20s"; a number is the same as its text. */
export type UcpConfigValue = string | number;

/** What workers heed, by the names that UCX gives in `ucx_info -c`, without their `UCX_`. Each can be left out. */
export interface UcpConfig {
  /** How messages go to other workers: the first of a list that there is here, `rc` or `ud`; `^` before it for all but those. Default `rc`. */
  readonly TLS?: UcpConfigValue | undefined;
  /** From which length on messages are packed, though they would go into a request. Default `auto`: never. */
  readonly BCOPY_THRESH?: UcpConfigValue | undefined;
  /** From which length on messages go from where they lie. Default `auto`: never. */
  readonly ZCOPY_THRESH?: UcpConfigValue | undefined;
  /** From which length on messages go by rendezvous. Default `auto`: 32 KiB. */
  readonly RNDV_THRESH?: UcpConfigValue | undefined;
  /** Who moves the data of a rendezvous: `get_zcopy`, `put_zcopy`, `am`. Default `auto`. */
  readonly RNDV_SCHEME?: UcpConfigValue | undefined;
  /** How long a peer may be silent before it is asked whether it is there: a time, or `inf`. Default `20s`. */
  readonly KEEPALIVE_INTERVAL?: UcpConfigValue | undefined;
  /** Messages that each peer may send before any is taken, by `rc`: 1 to 1024. Default 32. */
  readonly RC_FC_WND_SIZE?: UcpConfigValue | undefined;
  /** Datagrams that may be under way to a peer, by `ud`: 2 to 1025. Default 256. */
  readonly UD_MAX_WINDOW?: UcpConfigValue | undefined;
  /** How long a peer may be silent while something is waited for, by `ud`: a time. Default `30s`. */
  readonly UD_TIMEOUT?: UcpConfigValue | undefined;
  /** What the log says: `info` of workers and endpoints, `debug` of each rendezvous as well. UCX's others are `fatal`, `error`, `warn`, `diag`, and from `trace` on the same as `debug`. Default `warn`: nothing. */
  readonly LOG_LEVEL?: UcpConfigValue | undefined;
  /** Where the log goes: `stdout`, `stderr`, or a file, to which it is added; `%p` in its path is the process, `%h` the host. Default `stdout`, as in UCX. */
  readonly LOG_FILE?: UcpConfigValue | undefined;
  /** Whether the log says of each endpoint, once it is there, by which protocols messages go, whatever its level: `y` or `n`. Default `n`. */
  readonly PROTO_INFO?: UcpConfigValue | undefined;
}

/** The same, read; undefined for what is not said. */
export interface UcpSettings {
  readonly transport: TransportName | undefined;
  readonly bcopy: number | undefined;
  readonly zcopy: number | undefined;
  readonly rndv: number | undefined;
  readonly rndvScheme: RndvScheme | undefined;
  readonly keepAliveMs: number | undefined;
  readonly window: number | undefined;
  readonly udWindow: number | undefined;
  readonly udTimeoutMs: number | undefined;
  readonly logLevel: LogLevel | undefined;
  readonly logFile: string | undefined;
  readonly protoInfo: boolean | undefined;
}

export const PREFIX = 'UCX_';

const FIELDS: FieldsOf<UcpConfig> = {
  TLS: true,
  BCOPY_THRESH: true,
  ZCOPY_THRESH: true,
  RNDV_THRESH: true,
  RNDV_SCHEME: true,
  KEEPALIVE_INTERVAL: true,
  RC_FC_WND_SIZE: true,
  UD_MAX_WINDOW: true,
  UD_TIMEOUT: true,
  LOG_LEVEL: true,
  LOG_FILE: true,
  PROTO_INFO: true,
};

/** All names, as UCX's environment has them, without their prefix. */
// The keys of an object of ours are those that its type names.
export const NAMES = Object.keys(FIELDS) as readonly (keyof UcpConfig)[];

/**
 * What a configuration means.
 *
 * @param where that the values stand, for people: what comes before the name
 * @throws VerbsError EINVAL for names that there are not, and values that make no sense
 */
export function settingsOf(call: string, config: UcpConfig, where: string): UcpSettings {
  refuse(call, fieldsProblem('config', config, FIELDS));
  const read = <T>(name: keyof UcpConfig, parse: Parser<T>): T | undefined => {
    const value: unknown = config[name];
    if (value === undefined) return undefined;
    const parsed = typeof value === 'string' || typeof value === 'number' ? parse(textOf(value)) : 'It is a text';
    if (typeof parsed !== 'string') return parsed.value;
    throw new VerbsError(call, invalid(`${where}${name} is ${show(value)}`, parsed));
  };
  return {
    transport: read('TLS', transports),
    bcopy: read('BCOPY_THRESH', memorySize),
    zcopy: read('ZCOPY_THRESH', memorySize),
    rndv: read('RNDV_THRESH', memorySize),
    rndvScheme: read('RNDV_SCHEME', rndvScheme),
    keepAliveMs: read('KEEPALIVE_INTERVAL', time),
    window: read('RC_FC_WND_SIZE', count(1, 1024)),
    udWindow: read('UD_MAX_WINDOW', count(2, 1025)),
    udTimeoutMs: read('UD_TIMEOUT', time),
    logLevel: read('LOG_LEVEL', logLevel),
    logFile: read('LOG_FILE', logFile),
    protoInfo: read('PROTO_INFO', yesOrNo),
  };
}

function textOf(value: UcpConfigValue): string {
  return value === Infinity ? 'inf' : String(value);
}
