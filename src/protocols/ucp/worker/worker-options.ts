import {
  callback,
  type FieldsOf,
  fieldsProblem,
  invalid,
  oneOf,
  type OptionRule,
  type Problem,
  refuse,
  show,
  wholeNumber,
} from '../../../api/verbs/index.js';
import { environmentConfig } from '../config/read-config.js';
import { PREFIX, settingsOf, type UcpConfig } from '../config/settings.js';
import type { TransportName } from '../config/values.js';
import { RNDV_SCHEMES, type Thresholds } from '../protocol/index.js';
import type { UdOptions } from '../uct/index.js';
import { MAX_NAME_BYTES } from '../wire/index.js';
import type { LogSettings } from './log.js';

const CALL = 'UcpWorker';
const KEPT_BYTES = 16 << 20;
/** Who sends without a pause asks for more at a quarter of it: what is left is to last until the answer. */
const WINDOW = 64;

/** How a worker is made. What is not said here is as `config` says, then as the environment does, then the default. */
export interface UcpWorkerOptions {
  /**
   * How messages go to other workers, which have to say the same: `rc` by a reliable connection to each, `ud` by datagrams of one queue pair to all. Those of `ud` reach no memory, so
   * that puts, gets and rendezvous go as messages as well. Default `rc`.
   */
  readonly transport?: TransportName | undefined;
  /** Bytes of messages that may lie here before they are asked for, of all peers together. A peer that sends more loses its endpoint. Default 16 MiB. */
  readonly unexpectedBytes?: number | undefined;
  /**
   * Bytes of active messages that have come in part, or that programs keep, of all peers together; each costs 256 more. A peer whose message finds no room loses its
   * endpoint. Default 16 MiB.
   */
  readonly amBytes?: number | undefined;
  /** Bytes of streams that may lie here before they are received, of all peers together. A peer that sends more loses its endpoint. Default 16 MiB. */
  readonly streamBytes?: number | undefined;
  /** Messages that each peer may send before any is taken, 1 to 1024. Default 64. */
  readonly window?: number | undefined;
  /** Endpoints that others have made by the {@link UcpWorker.address address}, and that were not asked for here; others are refused. Default 1024. */
  readonly unclaimedEndpoints?: number | undefined;
  /** For people: it is in the {@link UcpWorker.address address}. Up to 31 bytes of UTF-8. Default: none. */
  readonly name?: string | undefined;
  /** What the program calls itself, 0 to 2^64 - 1, for workers that it {@link UcpConnectOptions.sendClientId tells}. Default 0. */
  readonly clientId?: bigint | undefined;
  /** How long a peer may be silent of which something is expected, before it is asked whether it is there: milliseconds. Default 20 seconds, as in UCX. */
  readonly keepAliveMs?: number | undefined;
  /** From which lengths on messages go in other ways. Default: by rendezvous from 32 KiB on, and otherwise whatever is possible. */
  readonly thresholds?: Partial<Thresholds> | undefined;
  /** The same and more by UCX's names: `{ RNDV_THRESH: '64k', TLS: 'ud' }`. Default: what the environment says, as `UCX_RNDV_THRESH`. */
  readonly config?: UcpConfig | undefined;
  /**
   * Takes the lines of the log, without their ends, in place of the file; how much it says is for `LOG_LEVEL` and `PROTO_INFO` of {@link config} to say. What it throws ends the log, and is warned of
   * by `process.emitWarning`. Default: `LOG_FILE` of {@link config}.
   */
  readonly log?: ((line: string) => void) | undefined;
}

const FIELDS: FieldsOf<UcpWorkerOptions> = {
  transport: oneOf('rc', 'ud'),
  unexpectedBytes: orInfinity(0),
  amBytes: orInfinity(0),
  streamBytes: orInfinity(0),
  window: wholeNumber(1, 1024),
  unclaimedEndpoints: orInfinity(0),
  name: nameProblem,
  clientId: clientIdProblem,
  keepAliveMs: orInfinity(1),
  thresholds: (what, value) => fieldsProblem(what, value, THRESHOLD_FIELDS),
  config: true,
  log: callback('It is a function that takes a line'),
};

const THRESHOLD_FIELDS: FieldsOf<Thresholds> = {
  bcopy: orInfinity(0),
  zcopy: orInfinity(0),
  rndv: orInfinity(0),
  rndvScheme: oneOf(...RNDV_SCHEMES),
};

/** From 32 KiB on a rendezvous is quicker, by every link (docs/decisions/0053). */
const THRESHOLDS: Thresholds = { bcopy: Infinity, zcopy: Infinity, rndv: 32_768, rndvScheme: 'auto' };

export interface WorkerSettings extends LogSettings {
  readonly transport: TransportName;
  readonly unexpectedBytes: number;
  readonly amBytes: number;
  readonly streamBytes: number;
  readonly window: number;
  readonly unclaimedEndpoints: number;
  readonly name: string;
  readonly clientId: bigint;
  readonly keepAliveMs: number;
  readonly thresholds: Thresholds;
  readonly ud: UdOptions;
}

/** @throws VerbsError EINVAL for what makes no sense, in the environment as well */
export function workerSettings(options: UcpWorkerOptions): WorkerSettings {
  refuse(CALL, fieldsProblem('options', options, FIELDS));
  const { thresholds = {}, config = {} } = options;
  const said = settingsOf(CALL, config, 'config.');
  const around = settingsOf(CALL, without(environmentConfig(), config), PREFIX);
  const of = <K extends keyof typeof said>(name: K): (typeof said)[K] => said[name] ?? around[name];
  const keepAliveMs = options.keepAliveMs ?? of('keepAliveMs') ?? 20_000;
  const [window, timeoutMs] = [of('udWindow'), of('udTimeoutMs')];
  return {
    transport: options.transport ?? of('transport') ?? 'rc',
    unexpectedBytes: options.unexpectedBytes ?? KEPT_BYTES,
    amBytes: options.amBytes ?? KEPT_BYTES,
    streamBytes: options.streamBytes ?? KEPT_BYTES,
    window: options.window ?? of('window') ?? WINDOW,
    unclaimedEndpoints: options.unclaimedEndpoints ?? 1024,
    name: options.name ?? '',
    clientId: options.clientId ?? 0n,
    keepAliveMs,
    thresholds: {
      bcopy: thresholds.bcopy ?? of('bcopy') ?? THRESHOLDS.bcopy,
      zcopy: thresholds.zcopy ?? of('zcopy') ?? THRESHOLDS.zcopy,
      rndv: thresholds.rndv ?? of('rndv') ?? THRESHOLDS.rndv,
      rndvScheme: thresholds.rndvScheme ?? of('rndvScheme') ?? THRESHOLDS.rndvScheme,
    },
    logLevel: of('logLevel') ?? 'warn',
    logFile: of('logFile') ?? 'stdout',
    protoInfo: of('protoInfo') ?? false,
    log: options.log,
    ud: { keepAliveMs, ...(window !== undefined && { window }), ...(timeoutMs !== undefined && { timeoutMs }) },
  };
}

function without(environment: UcpConfig, config: UcpConfig): UcpConfig {
  const said = new Map<string, unknown>(Object.entries(config));
  return Object.fromEntries(Object.entries(environment).filter(([name]) => said.get(name) === undefined));
}

function nameProblem(what: string, name: unknown): Problem | undefined {
  if (typeof name === 'string' && new TextEncoder().encode(name).length <= MAX_NAME_BYTES) return undefined;
  return invalid(`${what} is ${show(name)}`, `It is a text of up to ${MAX_NAME_BYTES} bytes in UTF-8`);
}

function clientIdProblem(what: string, clientId: unknown): Problem | undefined {
  if (typeof clientId === 'bigint' && BigInt.asUintN(64, clientId) === clientId) return undefined;
  return invalid(`${what} is ${show(clientId)}`, 'It is a bigint, 0 to 2^64 - 1');
}

/** A whole number without an upper end, or Infinity. */
function orInfinity(least: number): OptionRule {
  return (what, value) =>
    value === Infinity || (typeof value === 'number' && Number.isInteger(value) && value >= least)
      ? undefined
      : invalid(`${what} is ${show(value)}`, `It is a number from ${least} on, or Infinity`);
}
