import { nameAdvice } from '../../../api/verbs/index.js';
import { runtime } from '../../../api/runtime/index.js';
import { NAMES, PREFIX, settingsOf, type UcpConfig } from './settings.js';
import { isLogged, logLevel, NO } from './values.js';

/** What an environment says. */
export interface UcpEnvironment {
  /** Its settings that workers heed. */
  readonly config: UcpConfig;
  /** What it says in vain: a sentence for each. */
  readonly warnings: readonly string[];
}

const WARN = 'WARN_UNUSED_ENV_VARS';

/** What UCX knows, and changes nothing here, with the reason. The list is of what people set. */
const WITHOUT_EFFECT: Readonly<Record<string, string | undefined>> = {
  ADDRESS_VERSION: 'workers have no packed addresses here',
  ERROR_SIGNALS: 'there are no handlers of signals',
  HANDLE_ERRORS: 'there are no handlers of signals',
  IB_GID_INDEX: 'a worker goes by the device that it is given',
  LOG_FILE_ROTATE: 'a log is one file',
  LOG_FILE_SIZE: 'a log is one file',
  MAX_EAGER_LANES: 'an endpoint has one lane',
  MAX_RNDV_RAILS: 'an endpoint has one lane',
  MEMTYPE_CACHE: 'there is no memory but the host’s',
  NET_DEVICES: 'a worker goes by the device that it is given',
  PROTO_ENABLE: 'there is one selection of protocols',
  RC_FC_ENABLE: 'flow control is always on',
  SOCKADDR_TLS_PRIORITY: 'connections are made by rdma_cm',
  STATS_DEST: 'ask worker.statistics',
  STATS_TRIGGER: 'ask worker.statistics',
};

type Settings = Readonly<Record<string, string | undefined>>;

function ownEnvironment(): Settings {
  const own = runtime();
  const names = own.environmentNames().filter((name) => name.startsWith(PREFIX));
  return Object.fromEntries(names.map((name) => [name, own.environment(name)]));
}

/**
 * Reads what an environment says to UCP: `ucp_config_read`. Workers read that of their process when they are made, so that a program need not call this, and warn by
 * `process.emitWarning`, once of each. `UCX_WARN_UNUSED_ENV_VARS=n` has them not warn, and so has a `UCX_LOG_LEVEL` of `error` or `fatal`.
 *
 * @param environment default: that of the process, which a page of a browser does not have
 * @throws VerbsError EINVAL for values that make no sense
 */
export function readUcpConfig(
  environment: Readonly<Record<string, string | undefined>> = ownEnvironment(),
): UcpEnvironment {
  const config = configIn(environment);
  settingsOf('readUcpConfig', config, PREFIX);
  return { config, warnings: warningsOf(environment) };
}

function configIn(environment: Settings): UcpConfig {
  const said = new Map<string, string>();
  for (const name of NAMES) {
    const value = environment[PREFIX + name];
    if (value !== undefined) said.set(name, value);
  }
  return Object.fromEntries(said);
}

function warningsOf(environment: Settings): string[] {
  if (NO.includes(environment[PREFIX + WARN]?.toLowerCase() ?? '')) return [];
  const known = [...NAMES, WARN, ...Object.keys(WITHOUT_EFFECT)].map((name) => PREFIX + name);
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && environment[name] !== undefined)
    .flatMap((name) => {
      const why = WITHOUT_EFFECT[name.slice(PREFIX.length)];
      if (why !== undefined) return [`${name} changes nothing here: ${why}`];
      return known.includes(name) ? [] : [`${name} is not known here. ${nameAdvice(name, known)}`];
    });
}

/** Whether the level of the log has warnings, as far as it makes sense: who reads it says what does not. */
function isWarning(environment: Settings): boolean {
  const level = logLevel(environment[`${PREFIX}LOG_LEVEL`] ?? 'warn');
  return typeof level === 'string' || isLogged(level.value, 'warn');
}

const told = new Set<string>();

/** What the environment of the process says to a worker, which warns of what it says in vain. */
export function environmentConfig(): UcpConfig {
  const environment = ownEnvironment();
  for (const warning of isWarning(environment) ? warningsOf(environment) : []) {
    if (told.has(warning)) continue;
    told.add(warning);
    runtime().warn(`verbena/ucp: ${warning}`);
  }
  return configIn(environment);
}
