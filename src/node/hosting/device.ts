import { AsyncResource } from 'node:async_hooks';
import { lookup } from 'node:dns/promises';
import { currentProvider, noteOpened, type Provider } from '../../api/provider/index.js';
import {
  type AdapterHost,
  DEVICE_NAME,
  NODE_TYPE,
  openShared,
  SoftContext,
  TRANSPORT_TYPE,
} from '../../providers/soft/index.js';
import { type Gid, gidFromIp, nodeGuid } from '../../device/ibta/index.js';
import {
  type Context,
  type Device,
  fieldsProblem,
  type HostChoice,
  invalid,
  type LinkKind,
  openFields,
  type OpenOptions,
  type Problem,
  refuse,
  type SharedDevice,
  VerbsError,
} from '../../api/verbs/index.js';
import { LinkError, NETEM_EXAMPLE, type NetemSettings, parseNetem } from '../../device/link/index.js';
import { CommandError } from '../../device/nic/index.js';
import {
  inRootContext,
  nativeHost,
  ownAddresses,
  randomU32,
  sourceToward,
  SWITCH_ADVICE,
  switchProblem,
} from '../system/index.js';
import { InlineHost } from './inline/inline-host.js';
import { InlineNic } from './inline/inline-nic.js';
import type { AdapterSpec } from './native-adapter.js';
import { isSharedThread, OwnThread, SharedNic } from './threads/nic-handle.js';
import { ThreadHost } from './threads/thread-host.js';

const CALL = 'ibv_open_device';
const DEFAULT_ADDRESS = '127.0.0.1';

function setting(name: string): string | undefined {
  const value = process.env[name];
  return value === '' ? undefined : value;
}

function hostChoice(asked: string): HostChoice {
  if (asked === 'thread' || asked === 'inline' || asked === 'auto') return asked;
  throw new VerbsError(
    CALL,
    invalid(`host is '${asked}'`, "It is 'thread', 'inline' or 'auto' (option host, or VERBENA_HOST)"),
  );
}

function linkKind(asked: string): LinkKind {
  if (asked === 'auto' || asked === 'udp' || asked === 'shm') return asked;
  throw new VerbsError(
    CALL,
    invalid(`link is '${asked}'`, "It is 'auto', 'udp' or 'shm' (option link, or VERBENA_LINK)"),
  );
}

/** What is to happen to packets on their way. A repeat needs the seed, so that is told. */
function netemSettings(text: string, kind: LinkKind, warn: (text: string) => void): NetemSettings | undefined {
  const source = 'option netem, or VERBENA_NETEM';
  try {
    const settings = parseNetem(text, randomU32);
    if (settings === undefined) return undefined;
    if (kind === 'shm')
      throw new LinkError('EINVAL', "netem: packets are disturbed on their way by UDP, and link is 'shm'");
    warn(`packets are disturbed: '${settings.text}' (${source}) does the same again`);
    return settings;
  } catch (error) {
    if (!(error instanceof LinkError)) throw error;
    const advice = `An example: '${NETEM_EXAMPLE}' (${source})`;
    throw new VerbsError(CALL, { errno: error.errno, message: error.message, advice }, { cause: error });
  }
}

function ackTimeoutExponent(asked: string | number): number {
  const exponent = asked === '' ? NaN : Number(asked);
  if (Number.isInteger(exponent) && exponent >= 0 && exponent <= 31) return exponent;
  throw new VerbsError(
    CALL,
    invalid(
      `minAckTimeout is '${asked}'`,
      'It is an exponent, 0 to 31, as the timeout of a queue pair is: 18 is a second (option minAckTimeout, or VERBENA_MIN_ACK_TIMEOUT)',
    ),
  );
}

function emitWarning(text: string): void {
  process.emitWarning(text, 'VerbenaWarning');
}

/** The settings that were taken from the environment: whoever reads an error may not know that they are there. */
function settingsBehind(options: OpenOptions): string {
  return [
    { name: 'VERBENA_ADDR', option: options.address },
    { name: 'VERBENA_PCAP', option: options.capture },
    { name: 'VERBENA_LINK', option: options.link },
    { name: 'VERBENA_NETEM', option: options.netem },
  ]
    .filter(({ name, option }) => option === undefined && setting(name) !== undefined)
    .map(({ name }) => `${name} is '${setting(name) ?? ''}'`)
    .join(', and ');
}

/** What Node's permission model (`--permission`) forbids comes as an error of Node's own. */
function isForbidden(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_ACCESS_DENIED';
}

function withContext(options: OpenOptions): OpenOptions {
  const { warn } = options;
  return warn === undefined ? options : { ...options, warn: AsyncResource.bind(warn) };
}

function startHost(choice: HostChoice, options: OpenOptions): AdapterHost {
  const problem = switchProblem();
  if (problem !== undefined) throw new VerbsError(CALL, invalid(problem, SWITCH_ADVICE));
  const warn = options.warn ?? emitWarning;
  const link = linkKind(options.link ?? setting('VERBENA_LINK') ?? 'auto');
  const netem = netemSettings(options.netem ?? setting('VERBENA_NETEM') ?? '', link, warn);
  const spec = {
    address: options.address ?? setting('VERBENA_ADDR'),
    capture: options.capture ?? setting('VERBENA_PCAP'),
    // Each packet is to be one that can be lost.
    link: netem === undefined ? link : 'udp',
    netem,
    minAckTimeout: ackTimeoutExponent(options.minAckTimeout ?? setting('VERBENA_MIN_ACK_TIMEOUT') ?? 0),
    standIn: choice === 'auto',
  } satisfies AdapterSpec;
  // Without system calls a NIC needs an event loop, which the program's thread may keep from running.
  const isInline = choice === 'inline' || (choice === 'auto' && nativeHost() !== undefined);
  try {
    return isInline ? new InlineHost(new InlineNic(spec, warn)) : new ThreadHost(new OwnThread(spec), warn);
  } catch (error) {
    if (isForbidden(error))
      throw new VerbsError(
        CALL,
        {
          errno: 'EACCES',
          message: 'Node may start no thread for the NIC under --permission',
          advice: "Give it --allow-worker too; or --allow-addons, and host 'inline' (option host, or VERBENA_HOST)",
        },
        { cause: error },
      );
    if (!(error instanceof CommandError)) throw error;
    const advice = settingsBehind(options);
    throw new VerbsError(CALL, { errno: error.errno, message: error.message, advice }, { cause: error });
  }
}

/** The address that a device listed but not opened would most likely get. */
function likelyGid(): Gid {
  try {
    return gidFromIp((setting('VERBENA_ADDR') ?? DEFAULT_ADDRESS).replace(/%.*$/, ''));
  } catch {
    // Opening it will say what is wrong with the setting.
    return gidFromIp(DEFAULT_ADDRESS);
  }
}

/** The one device there is: a software NIC on an address of this machine. */
class SoftDevice implements Device {
  readonly name = DEVICE_NAME;
  readonly guid = nodeGuid(likelyGid());
  readonly nodeType = NODE_TYPE;
  readonly transportType = TRANSPORT_TYPE;

  open(options: OpenOptions = {}): Context {
    refuse(CALL, fieldsProblem('options', options, openFields));
    const provider = currentProvider();
    if (provider !== thisMachine) return provider.open(options);
    const context = openShared(CALL, options, (device) => this.#openThread(device, options)) ?? this.#openNew(options);
    noteOpened(context);
    return context;
  }

  #openNew(options: OpenOptions): Context {
    const choice = hostChoice(options.host ?? setting('VERBENA_HOST') ?? 'thread');
    return new SoftContext(this, inRootContext(startHost, choice, withContext(options)));
  }

  /** A context on a NIC that another thread has shared, where that can be. */
  #openThread(device: SharedDevice, { warn = emitWarning }: OpenOptions): Context | undefined {
    if (!isSharedThread(device)) return undefined;
    try {
      return new SoftContext(this, new ThreadHost(new SharedNic(device), warn));
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      throw new VerbsError(CALL, { errno: error.errno, message: error.message, advice: '' }, { cause: error });
    }
  }
}

/** Addresses of a host by its name, by `node:dns`, which asks the system as `getaddrinfo` does. */
async function lookupName(call: string, name: string, family: 4 | 6 | undefined): Promise<readonly string[]> {
  try {
    const found = await lookup(name, { all: true, family: family ?? 0 });
    return found.map(({ address }) => address);
  } catch (error) {
    const silent = error instanceof Error && 'code' in error && error.code === 'EAI_AGAIN';
    const problem: Problem = silent
      ? {
          errno: 'EAGAIN',
          message: `nobody answers who may know the name ${name}`,
          advice: 'Try again',
        }
      : { errno: 'ENOENT', message: `nobody knows the name ${name}`, advice: '' };
    throw new VerbsError(call, problem, { cause: error });
  }
}

export const thisMachine: Provider = {
  deviceList: () => [new SoftDevice()],
  open: (options) => new SoftDevice().open(options),
  fixedDevices: () => undefined,
  addresses: ownAddresses,
  sourceToward,
  lookup: lookupName,
};
