import { isIP, type LookupFunction } from 'node:net';
import type { StreamOptions, StreamSocket } from '../rsocket/index.js';
import { checkFunction, checkPort, checkString, type Given, isGiven, refuseSystemSockets } from './arguments.js';
import { show } from '../../api/verbs/index.js';
import { coded, wrongType } from './errors.js';
import type { OnReadOptions } from './incoming.js';
import type { ConnectTarget, DeviceOptions, ListenTarget, Transport } from './transport.js';

/** What `new Socket` takes. */
export interface SocketOptions {
  /** A stream that is there already: of a simulated host, say. Default: none until `connect`. */
  readonly stream?: StreamSocket | undefined;
  /** Whether this end goes on writing when the peer has ended. Default: it ends as well. */
  readonly allowHalfOpen?: boolean | undefined;
  /** Bytes that wait in this object before it asks for patience, each way. Default: that of Node's streams. */
  readonly highWaterMark?: number | undefined;
  /** Reads into the program's own memory. There is no 'data' then. */
  readonly onread?: OnReadOptions | undefined;
  /** Destroys the socket. */
  readonly signal?: AbortSignal | undefined;
}

/** What every connection of a socket or a server can be told. */
export interface KeepAliveOptions {
  /** Whether to notice a peer that has gone without a word. Default: not until something is sent. */
  readonly keepAlive?: boolean | undefined;
  /** Milliseconds of silence before the peer is asked; rounded up to seconds. Default: two hours, as Linux has it. */
  readonly keepAliveInitialDelay?: number | undefined;
  /** Taken and ignored: nothing here waits for more to send. */
  readonly noDelay?: boolean | undefined;
}

/** What `Socket.connect` takes. */
export interface SocketConnectOptions extends KeepAliveOptions, DeviceOptions, StreamOptions {
  /** It has to be given, though what HTTP hands on may lack it. */
  readonly port?: number | string | null | undefined;
  /** A name or an address. Default `localhost`. */
  readonly host?: string | null | undefined;
  /** An address of one's own to connect from. */
  readonly localAddress?: string | undefined;
  /** A port of one's own to connect from. Default, and 0: any that is free. */
  readonly localPort?: number | undefined;
  /** Which addresses of a name count. Default: both families. */
  readonly family?: number | 'IPv4' | 'IPv6' | undefined;
  /** Finds the addresses of a name. Default: the system does. */
  readonly lookup?: LookupFunction | undefined;
  /** For {@link lookup}. */
  readonly hints?: number | undefined;
  /** Milliseconds until an attempt to connect fails with ETIMEDOUT. Default 10 000. */
  readonly timeoutMs?: number | undefined;
}

export type SocketReadyState = 'opening' | 'open' | 'readOnly' | 'writeOnly' | 'closed';

/** What `connect` and `createConnection` take. */
export interface NetConnectOptions extends SocketOptions, SocketConnectOptions {
  /** As {@link Socket.setTimeout}, from the beginning. */
  readonly timeout?: number | undefined;
}

export interface Destination {
  readonly host: string;
  readonly port: number;
  readonly family: 4 | 6 | undefined;
  readonly hints: number;
  readonly lookup: LookupFunction | undefined;
  /** What goes to the transport with every address. */
  readonly target: Omit<ConnectTarget, 'host' | 'port' | 'signal'>;
}

/** Seconds of silence before a peer is asked, where nobody says more: what Linux has. */
const KEEPALIVE_SECONDS = 7200;
const MAX_KEEPALIVE_SECONDS = 32_767;

export function keepAliveSeconds(initialDelayMs: number): number {
  if (initialDelayMs <= 0) return KEEPALIVE_SECONDS;
  return Math.min(Math.ceil(initialDelayMs / 1000), MAX_KEEPALIVE_SECONDS);
}

const FAMILIES: ReadonlyMap<unknown, 4 | 6> = new Map<unknown, 4 | 6>([
  [4, 4],
  [6, 6],
  ['IPv4', 4],
  ['IPv6', 6],
]);

const STREAM_FIELDS: Readonly<Record<keyof StreamOptions, true>> = {
  sqSize: true,
  rqSize: true,
  inlineBytes: true,
  sendBufferBytes: true,
  receiveBufferBytes: true,
  iomapSize: true,
};

/** The options of streams and devices among others: `node:net` lets callers give options that it does not know. */
export function transportOptions(options: Given): Omit<ListenTarget, 'host' | 'port' | 'backlog'> {
  const names = [...Object.keys(STREAM_FIELDS), 'context', 'open'];
  return Object.fromEntries(names.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]));
}

/** @throws Error what is wrong with the options of `connect`, with Node's codes */
export function destinationOf(options: Given): Destination {
  refuseSystemSockets(options);
  const { port, host, family, hints, lookup, localAddress, localPort, timeoutMs } = options;
  if (port === undefined || port === null)
    throw coded(new TypeError('The "options" or "port" argument must be specified'), 'ERR_MISSING_ARGS');
  if (typeof port !== 'number' && typeof port !== 'string')
    throw wrongType('options.port', 'of type number or string', port);
  const checkedPort = checkPort('options.port', port);
  if (localPort !== undefined && typeof localPort !== 'number')
    throw wrongType('options.localPort', 'of type number', localPort);
  if (host !== undefined && host !== null && host !== '') checkString('options.host', host);
  if (lookup !== undefined && lookup !== null) checkFunction('options.lookup', lookup);
  if (hints !== undefined && typeof hints !== 'number') throw wrongType('options.hints', 'of type number', hints);
  if (localAddress !== undefined && localAddress !== null) {
    if (typeof localAddress !== 'string' || isIP(localAddress) === 0)
      throw coded(
        new TypeError(`options.localAddress is no IP address: ${show(localAddress)}`),
        'ERR_INVALID_IP_ADDRESS',
      );
  }
  return {
    // An empty name is that of this machine, as in Node.
    host: typeof host === 'string' && host !== '' ? host : 'localhost',
    port: checkedPort,
    family: FAMILIES.get(family),
    hints: hints ?? 0,
    // What a function of a program's takes and answers is checked when it answers.
    lookup: (lookup ?? undefined) as LookupFunction | undefined,
    target: {
      ...transportOptions(options),
      ...(typeof localAddress === 'string' && { localAddress }),
      ...(localPort !== undefined && localPort !== 0 && { localPort }),
      ...(typeof timeoutMs === 'number' && { timeoutMs }),
    },
  };
}

/** `onread`, where it is what Node takes for one; other things it ignores. */
export function onreadOf({ onread }: Given): OnReadOptions | undefined {
  if (!isGiven(onread)) return undefined;
  const { buffer, callback } = onread;
  if (!(buffer instanceof Uint8Array) && typeof buffer !== 'function') return undefined;
  // A function's arguments cannot be checked.
  return typeof callback === 'function' ? ({ buffer, callback } as OnReadOptions) : undefined;
}

/** What only this room gives. */
export interface InnerOptions {
  readonly transport?: Transport | undefined;
  /** Whether nothing is read until somebody asks (`pauseOnConnect`). */
  readonly pauseOnCreate?: boolean | undefined;
  /** Told once when the socket is destroyed. */
  readonly onClosed?: (() => void) | undefined;
}
