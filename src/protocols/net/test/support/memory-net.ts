/** A network in memory for sockets, and the functions of the module over it, with all their ways of being called. */
import { connect, createServer, type Server, Socket } from '../../index.js';
import { normalized } from '../../arguments.js';
import type { ConnectionListener } from '../../server.js';
import type { ServerOptions } from '../../server-options.js';
import type { NetConnectOptions, SocketOptions } from '../../socket-options.js';
import type { ConnectTarget, ListenTarget, StreamListener, Transport } from '../../transport.js';
import { VerbsError } from '../../../../api/verbs/index.js';
import { streamPair, UNKIND, type Unkindness } from './stream-pair.js';

const NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ['localhost', ['127.0.0.1', '::1']],
  ['nowhere-then-here', ['127.9.9.9', '127.0.0.1']],
]);
const FIRST_FREE = 30_000;

class MemoryNetwork implements Transport {
  readonly #how: Unkindness;
  readonly #listeners = new Map<string, StreamListener>();
  #seed: number;
  #lastPort = FIRST_FREE;
  /** Ports that clients have asked for, which stay theirs. */
  readonly #taken = new Set<number>();

  constructor(seed: number, how: Unkindness) {
    this.#seed = seed;
    this.#how = how;
  }

  resolve(host: string): Promise<readonly string[]> {
    const found = NAMES.get(host);
    if (found !== undefined) return Promise.resolve(found);
    return Promise.reject(Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' }));
  }

  listen({ host = '127.0.0.1', port = (this.#lastPort += 1) }: ListenTarget): StreamListener {
    const key = `${host} ${port}`;
    if (this.#listeners.has(key)) throw refusal('rdma_bind_addr', 'EADDRINUSE');
    const life = setInterval(() => {}, 2 ** 30);
    const listener: StreamListener = {
      address: { host, port },
      onStream: () => {},
      close: () => {
        clearInterval(life);
        this.#listeners.delete(key);
      },
      ref: () => life.ref(),
      unref: () => life.unref(),
    };
    this.#listeners.set(key, listener);
    return listener;
  }

  async connect({ host, port, signal, localAddress = '127.0.0.1', localPort }: ConnectTarget) {
    await new Promise((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
    const listener = this.#listeners.get(`${host} ${port}`);
    if (listener === undefined) throw refusal('rdma_connect', 'ECONNREFUSED');
    if (localPort !== undefined && this.#taken.has(localPort)) throw refusal('rdma_bind_addr', 'EADDRINUSE');
    if (localPort !== undefined) this.#taken.add(localPort);
    const own = { host: localAddress, port: localPort ?? (this.#lastPort += 1) };
    const [client, server] = streamPair((this.#seed += 1), this.#how, own, { host, port });
    setImmediate(() => listener.onStream?.(server));
    return client;
  }
}

function refusal(call: string, errno: 'EADDRINUSE' | 'ECONNREFUSED'): VerbsError {
  return new VerbsError(call, { errno, message: 'nobody is there, or somebody is', advice: '' });
}

export interface Net {
  readonly connect: typeof connect;
  readonly createServer: typeof createServer;
  /** A socket that is not connected. */
  socket(options?: SocketOptions): Socket;
}

export function netOver(transport: Transport): Net {
  const over = (...args: readonly unknown[]): Socket => {
    const [options, callback] = normalized(args);
    const given = { ...options, transport } as unknown as NetConnectOptions;
    return connect(given, callback);
  };
  const served = (options: ServerOptions | ConnectionListener = {}, onConnection?: ConnectionListener): Server => {
    const isListener = typeof options === 'function';
    const given = { ...(isListener ? {} : options), transport };
    return createServer(given, isListener ? options : onConnection);
  };
  return {
    connect: over,
    createServer: served,
    socket: (options) => new Socket({ ...options, ...{ transport } }),
  };
}

/** One whose streams are as unkind as they may be. */
export function memoryNet(seed: number, how: Unkindness = UNKIND): Net {
  return netOver(new MemoryNetwork(seed, how));
}
