import type { Context, FieldsOf, OpenOptions, Pd } from '../../verbs/index.js';
import type { ConnParam, IdQpInitAttr } from '../identifiers/parameters.js';
import type { CmId } from '../objects.js';

/** What both ends of a connection can be asked for. */
export interface ConnectionOptions extends Omit<ConnParam, 'srq' | 'qpNum' | 'qpType' | 'qkey'> {
  /** How the queue pair is made. */
  readonly qp?: Omit<IdQpInitAttr, 'qpType'> | undefined;
  /** Default: one that all identifiers on the device share. */
  readonly pd?: Pd | undefined;
  /**
   * Makes the queue pair by `id.createQp`, where {@link pd} and {@link qp} cannot be known before the device is: it is
   * `id.verbs`. Neither of them counts then.
   */
  readonly createQp?: ((id: CmId) => unknown) | undefined;
  /**
   * Called once the queue pair is there and before the peer can send: the place to post receive requests. When it returns
   * a promise, that is awaited first.
   */
  readonly prepare?: ((id: CmId) => unknown) | undefined;
  /** Gives up; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds, default 10 000; then the promise rejects with ETIMEDOUT. */
  readonly timeoutMs?: number | undefined;
}

/** Where a connection leads, and by which device. */
export interface CmConnectTarget {
  /** A name or an address. Of a name all addresses are tried, until somebody listens at one. */
  readonly host: string;
  /** 1 to 65535. */
  readonly port: number;
  /** An address of one's own to connect from. */
  readonly localAddress?: string | undefined;
  /** The device. Default: one that the program has through rdma_cm, opened when it has none that leads there. */
  readonly context?: Context | undefined;
  /** How the device is opened where it is not there yet. */
  readonly open?: Omit<OpenOptions, 'address' | 'device'> | undefined;
}

/** What `connect` takes. */
export interface ConnectOptions extends ConnectionOptions, CmConnectTarget {
  /** A port of one's own to connect from. Default: any that is free. */
  readonly localPort?: number | undefined;
  /** Whether others that say the same may have the port as well, as long as none of them listens. Default false. */
  readonly reuseAddr?: boolean | undefined;
  /** Type of service of the packets, 8 bits, the peer's included. Default 0. */
  readonly tos?: number | undefined;
}

/** What `listen` takes. */
export interface ListenOptions {
  /** Default: any that is free. */
  readonly port?: number | undefined;
  /**
   * An address of one of the program's devices, or a wildcard, `0.0.0.0` or `::`, for all of them, those included that it opens
   * later. Default: all devices, of both versions of IP.
   */
  readonly host?: string | undefined;
  /** Whether others that say the same may be bound to the port as well. A listener shares its port with nobody. Default false. */
  readonly reuseAddr?: boolean | undefined;
  /** Whether `::` takes connections of IPv6 only. Default false. */
  readonly ipv6Only?: boolean | undefined;
  /**
   * Requests that the program has not taken; 0, the default, for the most, 1024. A request beyond that is dropped, and gets in by
   * a later repeat: a client repeats it every 4.6 s.
   */
  readonly backlog?: number | undefined;
  /** Ends the listener. */
  readonly signal?: AbortSignal | undefined;
  /** The device. Default: the one that the address says, else all devices of the program. */
  readonly context?: Context | undefined;
  /** How the device is opened where it is not there yet. */
  readonly open?: Omit<OpenOptions, 'address' | 'device'> | undefined;
}

export const CONNECTION_FIELDS: FieldsOf<ConnectionOptions> = {
  privateData: true,
  responderResources: true,
  initiatorDepth: true,
  flowControl: true,
  retryCount: true,
  rnrRetryCount: true,
  qp: true,
  pd: true,
  createQp: true,
  prepare: true,
  signal: true,
  timeoutMs: true,
};

export const TARGET_FIELDS: FieldsOf<CmConnectTarget> = {
  host: true,
  port: true,
  localAddress: true,
  context: true,
  open: true,
};

export const CONNECT_FIELDS: FieldsOf<ConnectOptions> = {
  ...CONNECTION_FIELDS,
  ...TARGET_FIELDS,
  localPort: true,
  tos: true,
  reuseAddr: true,
};

export const LISTEN_FIELDS: FieldsOf<ListenOptions> = {
  port: true,
  host: true,
  ipv6Only: true,
  reuseAddr: true,
  backlog: true,
  signal: true,
  context: true,
  open: true,
};
