import { checkPort, checkSignal, checkString, type Given, refuseSystemSockets } from './arguments.js';
import { wrongType, wrongValue } from './errors.js';
import { type KeepAliveOptions, type SocketOptions, transportOptions } from './socket-options.js';
import type { StreamOptions } from '../rsocket/index.js';
import type { DeviceOptions, ListenTarget } from './transport.js';

/** What `createServer` takes. Of streams and devices, what `listen` is told counts more. */
export interface ServerOptions
  extends Pick<SocketOptions, 'allowHalfOpen' | 'highWaterMark'>, KeepAliveOptions, DeviceOptions, StreamOptions {
  /** Sockets read nothing until they are resumed, so that they can be handed on whole. Default false. */
  readonly pauseOnConnect?: boolean | undefined;
}

/** What `Server.listen` takes. */
export interface NetListenOptions extends DeviceOptions, StreamOptions {
  /** Default, and 0: any that is free. */
  readonly port?: number | string | undefined;
  /** A name or an address of one's own. Default, and `localhost`: the address of the program's device, a loopback address unless `VERBENA_ADDR` says otherwise. */
  readonly host?: string | undefined;
  /** Connections that may wait for their server. */
  readonly backlog?: number | undefined;
  /** Closes the server. */
  readonly signal?: AbortSignal | undefined;
  /** Taken and ignored: what `node:net` has for clusters and pipes. */
  readonly exclusive?: boolean | undefined;
  readonly ipv6Only?: boolean | undefined;
}

export interface Listening {
  readonly host: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly target: Omit<ListenTarget, 'host'>;
}

function portOf(options: Given, isAlone: boolean): number {
  const { port } = options;
  if (isAlone || port === null || (port === undefined && 'port' in options)) return 0;
  if (typeof port === 'number' || typeof port === 'string') return checkPort('options.port', port);
  throw wrongValue('options', 'must have the property "port"', options);
}

/** @throws Error what is wrong with the arguments of `listen`, with Node's codes */
export function listeningOf(options: Given, args: readonly unknown[], defaults: ServerOptions): Listening {
  refuseSystemSockets(options);
  const port = portOf(options, args.length === 0 || typeof args[0] === 'function');
  const { host, signal } = options;
  if (host !== undefined && host !== null) checkString('options.host', host);
  if (signal !== undefined) checkSignal('options.signal', signal);
  const backlog = options['backlog'] ?? backlogAmong(args);
  if (backlog !== undefined && typeof backlog !== 'number')
    throw wrongType('options.backlog', 'of type number', backlog);
  return {
    host: typeof host === 'string' && host !== '' && host !== 'localhost' ? host : undefined,
    signal: signal,
    target: {
      ...transportOptions({ ...defaults }),
      ...transportOptions(options),
      ...(port !== 0 && { port }),
      ...(backlog !== undefined && backlog > 0 && { backlog }),
    },
  };
}

/** `listen(port, host?, backlog?, callback?)`. */
function backlogAmong([first, second, third]: readonly unknown[]): number | undefined {
  if (typeof first === 'object') return undefined;
  const backlog = [second, third].find((value) => typeof value === 'number' || /^\d+$/.test(String(value)));
  return backlog === undefined ? undefined : Number(backlog);
}
