import {
  Agent as NodeAgent,
  type AgentOptions as NodeAgentOptions,
  type ClientRequestArgs,
  type Server as HttpServer,
} from 'node:http';
import type { Server as TlsServer } from 'node:tls';
import { connect } from './create.js';
import { Server } from './server.js';
import type { ServerOptions } from './server-options.js';
import type { Socket } from './socket.js';
import type { NetConnectOptions } from './socket-options.js';

/** What {@link Agent} takes: what Node's does, and what {@link connect} does. */
export type AgentOptions = NodeAgentOptions & Partial<NetConnectOptions>;

/**
 * An `http.Agent` whose connections go over RDMA: `http.get(url, { agent: new Agent({ keepAlive: true }) })`. Its options are those of
 * Node's, and those of {@link connect}.
 */
export class Agent extends NodeAgent {
  constructor(options: AgentOptions & Partial<NetConnectOptions> = {}) {
    // Both agree on what they have in common, up to how they say that something is left out.
    super(options);
  }

  /** @internal `http` calls it. */
  override createConnection(options: ClientRequestArgs): Socket {
    // They are checked as whatever a program gives.
    return connect(options as NetConnectOptions);
  }
}

/** What {@link attach} takes. */
export type AttachOptions = Omit<ServerOptions, 'pauseOnConnect'>;

/** Whether a server wants to be the one that ends its connections: one of HTTP does, one of TLS does not. */
function wantsHalfOpen(target: object): boolean {
  return 'allowHalfOpen' in target && target.allowHalfOpen === true;
}

/** A server whose connections are another's: what {@link attach} makes. */
class Carrier extends Server {
  readonly #target: HttpServer | TlsServer;

  constructor(target: HttpServer | TlsServer, options: AttachOptions) {
    super({ allowHalfOpen: wantsHalfOpen(target), ...options }, (socket) => target.emit('connection', socket));
    this.#target = target;
    // With that a server of HTTP begins to look for connections that take too long.
    this.on('listening', () => target.emit('listening'));
  }

  override close(onClose?: (error?: Error) => void): this {
    super.close(onClose);
    // Connections that wait for another request would hold it up for ever.
    if ('closeIdleConnections' in this.#target) this.#target.closeIdleConnections();
    return this;
  }
}

/**
 * A server whose connections go to a server of `node:http`, `node:https`, `node:tls` or `node:http2`: listen and close it in their place.
 *
 * @example
 * ```ts
 * const server = attach(http.createServer((request, response) => response.end('hello'))).listen(8080);
 * ```
 */
export function attach(target: HttpServer | TlsServer, options: AttachOptions = {}): Server {
  return new Carrier(target, options);
}
