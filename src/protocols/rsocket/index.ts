/** Sockets over RDMA, on the wire of librdmacm's rsockets: `verbena/rsocket`. */
export { RsocketError } from './errors.js';
export { connectStream, type StreamConnectOptions } from './stream/connect.js';
export { listenStreams, type StreamHandler, StreamListener, type StreamListenOptions } from './stream/listener.js';
export type { StreamOptions } from './stream/options.js';
export * from './stream/stream-socket.js';
/** The calls of rsocket.h, by their names. */
export * from './calls/connecting.js';
export {
  AddressFamily,
  Fcntl,
  IpOption,
  Ipv6Option,
  MapProtection,
  MsgFlags,
  O_NONBLOCK,
  PollEvents,
  RdmaOption,
  ShutdownHow,
  SocketLevel,
  SocketOption,
  SocketType,
  TcpOption,
  TcpState,
} from './calls/constants.js';
export type { SourceAddress } from './calls/datagram-transfer.js';
export type { RsocketOptions, RsocketWait } from './calls/core.js';
export { riomap, riounmap, riowrite } from './calls/iomap.js';
export { type OptionValue, rfcntl, rgetsockopt, rsetsockopt, type TcpInfo } from './calls/options.js';
export { type FdSet, type PollFd, rpoll, rselect } from './calls/polling.js';
export type { Rsocket } from './calls/rsocket.js';
export * from './calls/transfer.js';
