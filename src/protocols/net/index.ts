/** `node:net` over RDMA. */
export { isIP, isIPv4, isIPv6 } from 'node:net';
export type { SocketAddressInfo } from './arguments.js';
export { connect, createConnection, createServer, type OnConnect } from './create.js';
export type { StreamOptions, StreamSocket } from '../rsocket/index.js';
export { Agent, type AgentOptions, attach, type AttachOptions } from './http.js';
export type { OnReadOptions } from './incoming.js';
export { type ConnectionListener, type DropArgument, Server, type ServerEvents } from './server.js';
export type { NetListenOptions, ServerOptions } from './server-options.js';
export { Socket } from './socket.js';
export type {
  KeepAliveOptions,
  NetConnectOptions,
  SocketConnectOptions,
  SocketOptions,
  SocketReadyState,
} from './socket-options.js';
export type { DeviceOptions } from './transport.js';
export { connector, type Connector, type ConnectorOptions, type UndiciOptions } from './undici.js';
