import {
  type FieldsOf,
  fieldsProblem,
  invalid,
  nonEmptyText,
  refuse,
  show,
  VerbsError,
  wholeNumber,
} from '../../../api/verbs/index.js';
import type { SessionLimits } from './session.js';
import type { GatewayStore } from './commands/command.js';

/** What `serveRedis` takes. */
export interface RedisGatewayOptions {
  /** The store: a client of one. The gateway does not close it. */
  readonly client: GatewayStore;
  /** Where it listens: a name or an address of one's own. Default 127.0.0.1: whoever reaches it reaches the store. */
  readonly host?: string | undefined;
  /** Default, and 0: any that is free. */
  readonly port?: number | undefined;
  /** In place of host and port: the path of a Unix socket. */
  readonly path?: string | undefined;
  /** Connections at a time, 1 to 100 000; whoever comes beyond that is told so and turned away. Default 1000. */
  readonly maxConnections?: number | undefined;
  /** Bytes of one key or value, 1 to 512 MiB; default 1 MiB. */
  readonly maxArgumentBytes?: number | undefined;
}

const MIB = 1 << 20;
const FIELDS: FieldsOf<RedisGatewayOptions> = {
  client: true,
  host: nonEmptyText("It is a name or an address of one's own"),
  port: wholeNumber(0, 65_535),
  path: nonEmptyText('It is the path of a Unix socket'),
  maxConnections: wholeNumber(1, 100_000),
  maxArgumentBytes: wholeNumber(1, 512 * MIB),
};
const CALL = 'serveRedis';
const LOOPBACK = '127.0.0.1';
const MAX_CONNECTIONS = 1000;
const MAX_ARGUMENTS = 65_536;
/** A request has values of so many bytes, or one of the longest. */
const REQUEST_BYTES = 16 * MIB;
const UNDER_WAY = 128;
/** Of all clients together, or a few of the longest requests. */
const CLIENT_BYTES = 512 * MIB;

export interface GatewaySettings {
  readonly store: GatewayStore;
  readonly where: { readonly path: string } | { readonly host: string; readonly port: number };
  readonly maxConnections: number;
  readonly limits: SessionLimits;
  /** Bytes that are kept for all clients together. */
  readonly maxClientBytes: number;
}

/** @throws VerbsError EINVAL for what makes no sense */
export function settingsOf(options: RedisGatewayOptions): GatewaySettings {
  refuse(CALL, fieldsProblem('options', options, FIELDS));
  const { client, host = LOOPBACK, port = 0, path } = options;
  const { maxConnections = MAX_CONNECTIONS, maxArgumentBytes = MIB } = options;
  // Programs in JavaScript hand over anything.
  const given: unknown = client;
  if (typeof given !== 'object' || given === null || typeof client.get !== 'function')
    throw new VerbsError(CALL, invalid(`client is ${show(client)}`, 'It is what connect has given'));
  const maxRequestBytes = Math.max(REQUEST_BYTES, 2 * maxArgumentBytes);
  const limits = {
    maxArguments: MAX_ARGUMENTS,
    maxArgumentBytes,
    maxRequestBytes,
    maxUnderWay: UNDER_WAY,
    maxUnsentBytes: MIB,
  };
  const where = path === undefined ? { host, port } : { path };
  const maxClientBytes = Math.max(CLIENT_BYTES, 4 * maxRequestBytes);
  return { store: client, where, maxConnections, limits, maxClientBytes };
}
