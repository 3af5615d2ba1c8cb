/** Where servers and connections belong: `struct xio_context`. Node's event loop drives them all. Made by `xioContextCreate`. */
export interface LibxioContext {
  readonly handle: 'context';
}

/** Where sessions come: `struct xio_server`. Made by `xioBind`. */
export interface LibxioServer {
  readonly handle: 'server';
  /** Where it listens. */
  readonly port: number;
  /** To be given to `xioSessionCreate`. */
  readonly uri: string;
}

/** A session: `struct xio_session`. Made by `xioSessionCreate`, or given to `onNewSession`. */
export interface LibxioSession {
  readonly handle: 'session';
  /** The program's. */
  userContext: unknown;
}

/** Memory that requests and peers use: `struct xio_reg_mem`. Made by `xioMemAlloc`, `xioMemRegister` and `xioMempoolAlloc`. */
export interface XioRegMem {
  readonly handle: 'registered memory';
  readonly addr: Uint8Array;
  readonly length: number;
}

/** Buffers of a few sizes: `struct xio_mempool`. Made by `xioMempoolCreate`. */
export interface LibxioMempool {
  readonly handle: 'mempool';
}

/** A key of the peer's memory: `struct xio_managed_rkey`. Made by `xioRegisterRemoteRkey`. */
export interface LibxioManagedRkey {
  readonly handle: 'managed rkey';
}

/** The connection of a session: `struct xio_connection`. Made by `xioConnect`, or given by XIO_SESSION_NEW_CONNECTION_EVENT. */
export interface LibxioConnection {
  readonly handle: 'connection';
  readonly session: LibxioSession;
  /** The program's. */
  userContext: unknown;
}
