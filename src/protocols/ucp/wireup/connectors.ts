import type { ConnectionRequest } from '../../../api/rdmacm/index.js';
import type { TransportName } from '../config/values.js';
import {
  acceptRc,
  acceptUd,
  type AmHandlers,
  connectRc,
  connectUd,
  type MemoryDomain,
  type UctRcEndpoint,
  type RcWhere,
  rcWordsOf,
  type UdEndpoint,
  UdInterface,
  type UdOptions,
  udWordsOf,
  type Words,
} from '../uct/index.js';

export type Connected = UctRcEndpoint | UdEndpoint;

/** How the ends of a transport find each other by rdma_cm. */
export interface Connector {
  connect(where: RcWhere, handlers: AmHandlers, words: Words): Promise<Connected>;
  /** @param signal ends the attempt */
  accept(request: ConnectionRequest, handlers: AmHandlers, words: Words, signal: AbortSignal): Promise<Connected>;
  /** What a worker that asks says, behind what its transport does; or what is wrong with that. */
  wordsOf(request: ConnectionRequest): Uint8Array | string;
  close(): void;
}

export interface ConnectorOptions {
  readonly transport: TransportName;
  /** Of `rc`. */
  readonly window: number;
  readonly ud: UdOptions;
}

export function connectorOf(domain: MemoryDomain, { transport, window, ud }: ConnectorOptions): Connector {
  return transport === 'ud' ? new UdConnector(domain, ud) : new RcConnector(domain, window);
}

class RcConnector implements Connector {
  readonly wordsOf = rcWordsOf;

  constructor(
    private readonly domain: MemoryDomain,
    private readonly window: number,
  ) {}

  connect(where: RcWhere, handlers: AmHandlers, words: Words): Promise<UctRcEndpoint> {
    return connectRc({ domain: this.domain, window: this.window, handlers, words }, where);
  }

  accept(request: ConnectionRequest, handlers: AmHandlers, words: Words, signal: AbortSignal): Promise<UctRcEndpoint> {
    return acceptRc({ domain: this.domain, window: this.window, handlers, words }, request, signal);
  }

  close(): void {
    // Each connection is an endpoint's.
  }
}

class UdConnector implements Connector {
  readonly wordsOf = udWordsOf;
  /** The one for all endpoints, which is made when it is needed. */
  #interface: UdInterface | undefined;

  constructor(
    private readonly domain: MemoryDomain,
    private readonly options: UdOptions,
  ) {}

  async connect(where: RcWhere, handlers: AmHandlers, words: Words): Promise<UdEndpoint> {
    return connectUd(this.#made(), where, handlers, words);
  }

  async accept(
    request: ConnectionRequest,
    handlers: AmHandlers,
    words: Words,
    signal: AbortSignal,
  ): Promise<UdEndpoint> {
    return acceptUd(this.#made(), request, handlers, words, signal);
  }

  close(): void {
    void this.#interface?.close();
  }

  #made(): UdInterface {
    this.#interface ??= new UdInterface(this.domain, this.options);
    return this.#interface;
  }
}
