/** Messages, and memory that peers share, for programs: `verbena/messages`. */
export { connect, type MessageConnectOptions } from './connect.js';
export * from './connection/message-connection.js';
export type { MessageLease } from './connection/taking.js';
export { ClosedError, ProtocolError, RequestError } from './errors.js';
export { listen, MessageListener, type MessageListenOptions, type StopOptions } from './listener.js';
export {
  decodeRemoteBuffer,
  encodeRemoteBuffer,
  REMOTE_BUFFER_BYTES,
  type RemoteBuffer,
} from './memory/remote-buffer.js';
export { SharedMemory, type ShareOptions } from './memory/shared-memory.js';
export type { ExchangeOptions } from './options.js';
export type { ConnectionHandler, MessageServeOptions } from './serving.js';
export type { WaitOptions } from '../core/index.js';
