import { normalized } from './arguments.js';
import { type ConnectionListener, Server } from './server.js';
import type { ServerOptions } from './server-options.js';
import { Socket } from './socket.js';
import type { NetConnectOptions, SocketConnectOptions } from './socket-options.js';

/** Called without anything. HTTP hands on a function that expects more, and is content. */
export type OnConnect = (...nothing: never[]) => void;

/**
 * A server; `listen` starts it.
 *
 * @throws TypeError ERR_INVALID_ARG_TYPE
 */
export function createServer(onConnection?: ConnectionListener): Server;
export function createServer(options?: ServerOptions, onConnection?: ConnectionListener): Server;
export function createServer(options?: ServerOptions | ConnectionListener, onConnection?: ConnectionListener): Server {
  return new Server(options, onConnection);
}

/**
 * A socket that connects: as `new Socket(options).connect(options, onConnect)`.
 *
 * @throws TypeError, RangeError for wrong arguments, with Node's codes
 */
export function connect(target: NetConnectOptions | number | string, onConnect?: OnConnect): Socket;
export function connect(port: number | string, host?: string, onConnect?: OnConnect): Socket;
export function connect(...args: readonly unknown[]): Socket {
  const [options, onConnect] = normalized(args);
  // Sockets check what they are given, as those of Node do.
  const socket = new Socket(options);
  const { timeout } = options;
  if (timeout !== undefined && timeout !== null && timeout !== 0) socket.setTimeout(timeout as number);
  return socket.connect(options as unknown as SocketConnectOptions, onConnect);
}

/** {@link connect}. */
export const createConnection = connect;
