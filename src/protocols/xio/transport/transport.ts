import type { FullAddress } from '../../../api/rdmacm/index.js';
import type { Context, OpenOptions } from '../../../api/verbs/index.js';
import type { Link, Scheme } from './link.js';
import { XioStatus, type XioStatusName } from '../wire/index.js';

/** What a {@link XioError} says beside its status. */
export interface XioErrorOptions extends ErrorOptions {
  /** Whether the peer's program may have seen what failed. */
  readonly mayHaveRun?: boolean | undefined;
}

/** Why a session, a request or a message has failed. */
export class XioError extends Error {
  override readonly name = 'XioError';
  /** `XIO_E_TIMEOUT` and so on, by the names of libxio.h. */
  readonly code: XioStatusName;
  /** The number of it. */
  readonly status: XioStatus;
  /**
   * Whether the peer's program may have seen the request or the message that failed, and so done what it asks for. False: it has not, and never will, so
   * that it can be tried again.
   */
  readonly mayHaveRun: boolean;

  constructor(code: XioStatusName, message: string, { mayHaveRun = false, ...options }: XioErrorOptions = {}) {
    // What tells of another failure may end with its code already.
    super(message.endsWith(`(${code})`) ? message : `${message} (${code})`, options);
    this.code = code;
    this.status = XioStatus[code];
    this.mayHaveRun = mayHaveRun;
  }
}

/** How links of a transport carry bodies. Each end chooses for itself. */
export interface LinkOptions {
  /** The longest body that goes along with its head, in bytes: 0 to 8192. */
  readonly inlineBytes: number;
  /** The longest body that the peer may send. */
  readonly maxBodyBytes: number;
}

/** What devices are used, where a transport uses such. */
export interface DeviceOptions {
  /** The device. Default: as `connect` and `listen` of the root. */
  readonly context?: Context | undefined;
  /** How the device is opened where it is not there yet. */
  readonly open?: Omit<OpenOptions, 'address' | 'device'> | undefined;
}

export interface LinkTarget extends LinkOptions, DeviceOptions {
  readonly host: string;
  readonly port: number;
  readonly localAddress?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the promise rejects. */
  readonly timeoutMs: number;
}

export interface LinkPlace extends LinkOptions, DeviceOptions {
  readonly host?: string | undefined;
  /** 0: any that is free. */
  readonly port?: number | undefined;
}

/** Takes links until it is closed. It keeps the process alive until then. */
export interface LinkListener {
  readonly address: FullAddress;
  /** No more links come; those that are there go on. Idempotent. */
  close(): void;
  /** Resolves when it was closed, or rejects with what has ended it. */
  readonly closed: Promise<void>;
  ref(): void;
  unref(): void;
}

export interface Transport {
  readonly scheme: Scheme;

  /**
   * Makes a link.
   *
   * @throws XioError (the promise rejects) XIO_E_SESSION_REFUSED when nobody listens there, XIO_E_TIMEOUT, XIO_E_UNREACHABLE, XIO_E_ADDR_ERROR for a name that leads nowhere,
   *   XIO_E_INVALID_VERSION when the peer speaks something else, XIO_E_CONNECT_ERROR for all else; the signal's reason; VerbsError EINVAL for wrong arguments
   */
  connect(target: LinkTarget): Promise<Link>;

  /**
   * Listens. Peers that never complete a link keep nobody out, and a link that fails before it is there is not told.
   *
   * @param onLink is given each link, not opened yet
   * @returns when it listens
   * @throws XioError (the promise rejects) XIO_E_BIND_FAILED, whose cause says why; VerbsError EINVAL for wrong arguments
   */
  listen(place: LinkPlace, onLink: (link: Link) => void): Promise<LinkListener>;
}

const transports = new Map<Scheme, Transport>();

/** Makes a transport known, for all sessions of this program. */
export function useTransport(transport: Transport): void {
  transports.set(transport.scheme, transport);
}

/** The transport of that name, where there is one. */
export function transportOf(scheme: string): Transport | undefined {
  for (const transport of transports.values()) if (transport.scheme === scheme) return transport;
  return undefined;
}

/** The server has not taken the session: `code` is the one that its program has given, or else XIO_E_SESSION_REJECTED; XIO_E_SESSION_REFUSED where it has no room. */
export class XioRejectedError extends XioError {
  /** What its program has given to that of the client; empty where it has given nothing. */
  readonly privateData: Uint8Array;

  constructor(code: XioStatusName, message: string, privateData: Uint8Array) {
    super(code, message);
    this.privateData = privateData;
  }
}
