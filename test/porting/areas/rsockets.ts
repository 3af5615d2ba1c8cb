/** rsocket.h: its names are exports of `verbena/rsocket`. */
import { absent, area, call, constants, here, macro } from '../table.js';

const NO_EFFECT = 'is taken and told again, and has no effect';
const PROMISE = 'a promise, as whatever may wait';

export const rsockets = area(
  'rsocket.h: sockets (`verbena/rsocket`)',
  call(
    'rsocket',
    here('rsocket', 'SOCK_STREAM and SOCK_DGRAM of AF_INET and AF_INET6; the device is an option. AF_IB is EOPNOTSUPP'),
  ),
  call('rbind', 'rbind'),
  call('rlisten', here('rlisten', 'connections are taken from then on, without raccept')),
  call('raccept', here('raccept', `${PROMISE}; rgetpeername tells from where`)),
  call('rconnect', here('rconnect', PROMISE)),
  call('rshutdown', here('rshutdown', 'ends within a bound when the peer is gone')),
  call('rclose', here('rclose', '`using` does it, too')),
  call('rrecv', here('rrecv', PROMISE)),
  call('rrecvfrom', here('rrecvfrom', '`from` is filled with who has sent a datagram')),
  call('rrecvmsg', here('rrecvmsg', 'fills all of `iov`; `name` is filled as `from` is')),
  call('rsend', here('rsend', PROMISE)),
  call('rsendto', here('rsendto', 'EMSGSIZE for a datagram that does not fit into one packet')),
  call('rsendmsg', here('rsendmsg', 'control data is EOPNOTSUPP')),
  call('rread', 'rread'),
  call('rreadv', here('rreadv', 'fills all buffers')),
  call('rwrite', 'rwrite'),
  call('rwritev', 'rwritev'),
  call('rpoll', here('rpoll', `${PROMISE}; of rsockets only`)),
  call('rselect', here('rselect', 'sets are of type `Set`')),
  call('rgetpeername', 'rgetpeername'),
  call('rgetsockname', 'rgetsockname'),
  call('rsetsockopt', 'rsetsockopt'),
  call('rgetsockopt', here('rgetsockopt', 'gives the value; the options are below')),
  call('rfcntl', here('rfcntl', 'F_GETFL and F_SETFL with O_NONBLOCK, F_GETFD and F_SETFD')),
  call('riomap', 'riomap'),
  call('riounmap', here('riounmap', 'tells the peer, which C does not')),
  call('riowrite', 'riowrite'),
  call('repoll_create', absent('There are no descriptors; rpoll, and events of streams.')),
  call('repoll_ctl', absent('There are no descriptors; rpoll, and events of streams.')),
  call('repoll_wait', absent('There are no descriptors; rpoll, and events of streams.')),
  macro('SOL_RDMA', 'SocketLevel.RDMA'),
  constants('enum of SOL_RDMA', 'RdmaOption', 'RDMA_', 'SQSIZE RQSIZE INLINE IOMAPSIZE ROUTE', {
    ROUTE: here(
      'RdmaOption.ROUTE',
      'a `CmRoute`, once there is a connection; to set it is EOPNOTSUPP: paths follow from IP addresses',
    ),
  }),
);

export const rsocketOptions = area(
  'rsocket.h: options of sockets',
  macro('SO_REUSEADDR', here('SocketOption.REUSEADDR', 'before there is an address')),
  macro('SO_ERROR', here('SocketOption.ERROR', 'a number of Linux, forgotten once it was read')),
  macro('SO_SNDBUF', here('SocketOption.SNDBUF', 'stored doubled, before there is a connection')),
  macro('SO_RCVBUF', here('SocketOption.RCVBUF', 'stored doubled, before there is a connection')),
  macro('SO_KEEPALIVE', here('SocketOption.KEEPALIVE', 'of streams')),
  macro('SO_OOBINLINE', here('SocketOption.OOBINLINE', NO_EFFECT)),
  macro('SO_LINGER', here('SocketOption.LINGER', NO_EFFECT)),
  macro('IP_TOS', here('IpOption.TOS', 'of connections that are made, and of peers of datagrams, from then on')),
  macro('IPV6_V6ONLY', here('Ipv6Option.V6ONLY', 'before there is an address')),
  macro('TCP_NODELAY', here('TcpOption.NODELAY', NO_EFFECT)),
  macro('TCP_MAXSEG', here('TcpOption.MAXSEG', "the path's MTU; 2048 before there is a connection")),
  macro('TCP_KEEPIDLE', here('TcpOption.KEEPIDLE', 'seconds of silence after which the peer is asked')),
  macro('TCP_KEEPINTVL', here('TcpOption.KEEPINTVL', 'is taken, and is 1')),
  macro('TCP_KEEPCNT', here('TcpOption.KEEPCNT', 'is taken, and is 1')),
  macro('TCP_CONGESTION', here('TcpOption.CONGESTION', 'is taken, and is 1')),
  macro('TCP_INFO', here('TcpOption.INFO', 'a `TcpInfo`: state, and entries of the send queue as `sndCwnd`')),
  macro('MSG_PEEK', 'MsgFlags.PEEK'),
  macro('MSG_DONTWAIT', 'MsgFlags.DONTWAIT'),
  macro('MSG_WAITALL', here('MsgFlags.WAITALL', 'of streams')),
);
