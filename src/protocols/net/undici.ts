import type { Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { connect } from './create.js';
import type { NetConnectOptions } from './socket-options.js';

/** What undici asks a connector for. */
export interface ConnectorOptions {
  readonly hostname: string;
  readonly protocol: string;
  readonly port: string;
  readonly servername?: string | undefined;
  readonly localAddress?: string | null | undefined;
}

/** What undici takes as `connect`. */
export type Connector = (
  options: ConnectorOptions,
  callback: (...result: [error: null, socket: Socket | TLSSocket] | [error: Error, socket: null]) => void,
) => void;

/** What {@link connector} takes: what `connect` does, and what `tls.connect` does for https. */
export interface UndiciOptions extends Omit<NetConnectOptions, 'port' | 'host'> {
  readonly tls?: ConnectionOptions | undefined;
}

const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ['http:', 80],
  ['https:', 443],
]);

/**
 * Connects undici over RDMA: `new undici.Agent({ connect: connector() })`, whose `dispatcher` `fetch` takes as well.
 */
export function connector(options: UndiciOptions = {}): Connector {
  const { tls, ...common } = options;
  return ({ hostname, protocol, port, servername, localAddress }, callback) => {
    const raw = connect({
      ...common,
      // In addresses of IPv6 it leaves the brackets of the URL.
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? (DEFAULT_PORTS.get(protocol) ?? 0) : port,
      ...(typeof localAddress === 'string' && { localAddress }),
    });
    const isSecure = protocol === 'https:';
    const socket = isSecure ? connectTls({ servername: servername ?? hostname, ...tls, socket: raw }) : raw;
    const failed = (error: Error): void => callback(error, null);
    socket.once('error', failed);
    // A socket that TLS lies over does not tell of its own failure to connect.
    if (socket !== raw) raw.once('error', (error) => socket.destroy(error));
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      socket.removeListener('error', failed);
      // It has all that Node's has: a test compares them.
      callback(null, socket as unknown as Socket);
    });
  };
}
