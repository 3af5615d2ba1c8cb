/** The calls of rsocket.h, by their names. */
export {
  raccept,
  rbind,
  rclose,
  rconnect,
  rgetpeername,
  rgetsockname,
  rlisten,
  rshutdown,
  rsocket,
} from './connecting.js';
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
} from './constants.js';
export type { SourceAddress } from './datagram-transfer.js';
export type { RsocketOptions, RsocketWait } from './core.js';
export { riomap, riounmap, riowrite } from './iomap.js';
export { type OptionValue, rfcntl, rgetsockopt, rsetsockopt, type TcpInfo } from './options.js';
export { type FdSet, type PollFd, rpoll, rselect } from './polling.js';
export type { Rsocket } from './rsocket.js';
export {
  type Msghdr,
  type ReceivedMsghdr,
  rread,
  rreadv,
  rrecv,
  rrecvfrom,
  rrecvmsg,
  rsend,
  rsendmsg,
  rsendto,
  rwrite,
  rwritev,
} from './transfer.js';
