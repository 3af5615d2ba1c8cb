/** The constants of the sockets API that the calls of rsocket.h take, with Linux's numbers. */

/** Families of addresses. */
export const AddressFamily = { INET: 2, INET6: 10 } as const;
export type AddressFamily = (typeof AddressFamily)[keyof typeof AddressFamily];

export const ANY: Readonly<Record<AddressFamily, string>> = {
  [AddressFamily.INET]: '0.0.0.0',
  [AddressFamily.INET6]: '::',
};

export function isAny(host: string): boolean {
  return Object.values(ANY).includes(host);
}

/** `SOCK_STREAM`: a stream of bytes; `SOCK_DGRAM`: datagrams. Or'ed with NONBLOCK: as after `rfcntl(socket, Fcntl.SETFL, O_NONBLOCK)`. CLOEXEC means nothing here. */
export const SocketType = { STREAM: 1, DGRAM: 2, NONBLOCK: 0x800, CLOEXEC: 0x80000 } as const;

/** Flags of `rsend` and `rrecv`. */
export const MsgFlags = { PEEK: 0x2, DONTWAIT: 0x40, WAITALL: 0x100 } as const;

/** What `rpoll` looks for, and what it finds; ERR, HUP and NVAL are found unasked. */
export const PollEvents = { IN: 0x1, OUT: 0x4, ERR: 0x8, HUP: 0x10, NVAL: 0x20 } as const;

/** Which direction `rshutdown` ends. */
export const ShutdownHow = { RD: 0, WR: 1, RDWR: 2 } as const;
export type ShutdownHow = (typeof ShutdownHow)[keyof typeof ShutdownHow];

/** What `rfcntl` does. */
export const Fcntl = { GETFD: 1, SETFD: 2, GETFL: 3, SETFL: 4 } as const;
export type Fcntl = (typeof Fcntl)[keyof typeof Fcntl];

/** Calls answer EAGAIN or EINPROGRESS where they would wait. */
export const O_NONBLOCK = 0x800;

/** Whose option it is that `rsetsockopt` sets: `SOL_SOCKET`, `IPPROTO_IP`, `IPPROTO_TCP`, `IPPROTO_IPV6`, `SOL_RDMA`. */
export const SocketLevel = { IP: 0, SOCKET: 1, TCP: 6, IPV6: 41, RDMA: 0x10000 } as const;
export type SocketLevel = (typeof SocketLevel)[keyof typeof SocketLevel];

/** Options of `SOL_SOCKET`. */
export const SocketOption = {
  REUSEADDR: 2,
  ERROR: 4,
  SNDBUF: 7,
  RCVBUF: 8,
  KEEPALIVE: 9,
  OOBINLINE: 10,
  LINGER: 13,
} as const;

/** Options of `IPPROTO_IP`. */
export const IpOption = { TOS: 1 } as const;

/** Options of `IPPROTO_TCP`. */
export const TcpOption = {
  NODELAY: 1,
  MAXSEG: 2,
  KEEPIDLE: 4,
  KEEPINTVL: 5,
  KEEPCNT: 6,
  INFO: 11,
  CONGESTION: 13,
} as const;

/** What TCP_INFO tells of a connection, with Linux's numbers. */
export const TcpState = { ESTABLISHED: 1, SYN_SENT: 2, CLOSE: 7, LISTEN: 10 } as const;
export type TcpState = (typeof TcpState)[keyof typeof TcpState];

/** Options of `IPPROTO_IPV6`. */
export const Ipv6Option = { V6ONLY: 26 } as const;

/** Options of `SOL_RDMA`: sizes, which are set before there is a connection, and ROUTE, which is there to be read then. */
export const RdmaOption = { SQSIZE: 0, RQSIZE: 1, INLINE: 2, IOMAPSIZE: 3, ROUTE: 4 } as const;

/** What the peer may do with memory that `riomap` maps. */
export const MapProtection = { NONE: 0, READ: 1, WRITE: 2 } as const;
