import { captureRejectionSymbol, EventEmitter } from 'node:events';
import { isIP } from 'node:net';
import { Callbacks, whenAborted } from '../../api/runtime/index.js';
import type { StreamSocket } from '../rsocket/index.js';
import { familyOf, infoOf, isGiven, normalized, type SocketAddressInfo } from './arguments.js';
import { coded, systemError, wrongType } from './errors.js';
import { localServers } from './local-servers.js';
import { type Listening, listeningOf, type NetListenOptions, type ServerOptions } from './server-options.js';
import { Socket } from './socket.js';
import type { InnerOptions } from './socket-options.js';
import { rsockets, type StreamListener, type Transport } from './transport.js';

/** Whose connection was refused, and where: 'drop' tells. */
export interface DropArgument {
  readonly localAddress: string;
  readonly localPort: number;
  readonly localFamily: 'IPv4' | 'IPv6';
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly remoteFamily: 'IPv4' | 'IPv6';
}

/** What a server tells, with what. */
export interface ServerEvents {
  listening: [];
  connection: [socket: Socket];
  drop: [data: DropArgument];
  error: [error: Error];
  close: [];
}

/** Called with each connection. */
export type ConnectionListener = (socket: Socket) => void;

/** A server of connections over RDMA in the shape of `net.Server`. It keeps the process alive until it is closed. */
export class Server extends EventEmitter<ServerEvents> implements AsyncDisposable {
  /** Whoever comes when there are so many connections is turned away, which 'drop' tells. Default: no limit. */
  maxConnections: number | undefined;

  readonly #options: ServerOptions;
  readonly #transport: Transport;
  /** Calls the listeners in the async context of the call of {@link listen}, as Node does. */
  #callbacks = new Callbacks();
  /** Ends what the signal of `listen` does: it closes that listening, and no later one. */
  #stopHeeding: (() => void) | undefined;
  #listener: StreamListener | undefined;
  /** One is looked for: `listen` was called, and a name is being resolved. */
  #attempt: object | undefined;
  #connections = 0;
  #isReferenced = true;

  /** @throws TypeError ERR_INVALID_ARG_TYPE */
  constructor(options: ServerOptions | ConnectionListener = {}, onConnection?: ConnectionListener) {
    super();
    const listener = typeof options === 'function' ? options : onConnection;
    if (typeof options !== 'function' && !isGiven(options)) throw wrongType('options', 'of type object', options);
    this.#options = typeof options === 'function' ? {} : options;
    const { transport = rsockets }: ServerOptions & InnerOptions = this.#options;
    this.#transport = transport;
    if (listener !== undefined) this.on('connection', listener);
  }

  get listening(): boolean {
    return this.#listener !== undefined;
  }

  /**
   * Listens, and emits 'listening'; when that fails, 'error'.
   *
   * @throws Error ERR_SERVER_ALREADY_LISTEN, and for wrong arguments, with Node's codes; ENOTSUP for paths
   */
  listen(options: NetListenOptions, onListening?: () => void): this;
  listen(port?: number | string, host?: string, backlog?: number, onListening?: () => void): this;
  listen(port?: number | string, hostOrBacklog?: string | number, onListening?: () => void): this;
  listen(port?: number | string, onListening?: () => void): this;
  listen(onListening?: () => void): this;
  listen(...args: readonly unknown[]): this {
    const [options, callback] = normalized(args);
    if (this.#listener !== undefined || this.#attempt !== undefined)
      throw coded(
        new Error('Listen method has been called more than once without closing.'),
        'ERR_SERVER_ALREADY_LISTEN',
      );
    const listening = listeningOf(options, args, this.#options);
    if (callback !== undefined) this.once('listening', callback);
    const attempt = {};
    this.#attempt = attempt;
    this.#callbacks = new Callbacks();
    if (listening.signal !== undefined) this.#heed(listening.signal);
    void this.#listen(listening, attempt);
    return this;
  }

  /** Where it listens; null when it does not. */
  address(): SocketAddressInfo | null {
    return this.#listener === undefined ? null : infoOf(this.#listener.address);
  }

  /** Tells how many connections there are. */
  getConnections(callback: (error: Error | null, count: number) => void): this {
    process.nextTick(callback, null, this.#connections);
    return this;
  }

  /**
   * Takes no more connections; 'close' comes when those that are there have ended.
   *
   * @param onClose called then; at once with ERR_SERVER_NOT_RUNNING when it does not listen
   */
  close(onClose?: (error?: Error) => void): this {
    const isRunning = this.#listener !== undefined || this.#attempt !== undefined;
    if (typeof onClose === 'function')
      this.once('close', () => {
        if (isRunning) onClose();
        else onClose(coded(new Error('Server is not running.'), 'ERR_SERVER_NOT_RUNNING'));
      });
    this.#attempt = undefined;
    this.#stopHeeding?.();
    if (this.#listener !== undefined) {
      const { host, port } = this.#listener.address;
      localServers.remove(host, port);
      this.#listener.close();
      this.#listener = undefined;
    }
    this.#tellWhenEmpty();
    return this;
  }

  /** @internal `EventEmitter` calls it when a listener rejects, where rejections are captured. */
  override [captureRejectionSymbol](error: Error, event: unknown, ...args: readonly unknown[]): void {
    const [first] = args;
    if (event === 'connection' && first instanceof Socket) first.destroy(error);
    else this.emit('error', error);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#listener === undefined && this.#attempt === undefined) return;
    await new Promise<void>((resolve) => this.close(() => resolve()));
  }

  /** Has it keep the process alive, as it does to begin with. */
  ref(): this {
    this.#isReferenced = true;
    this.#listener?.ref();
    return this;
  }

  /** Lets the process end though it listens. */
  unref(): this {
    this.#isReferenced = false;
    this.#listener?.unref();
    return this;
  }

  #heed(signal: AbortSignal): void {
    let isHeeded = true;
    const close = (): void => {
      if (isHeeded) this.close();
    };
    const stop = whenAborted(signal, close);
    if (signal.aborted) process.nextTick(close);
    this.#stopHeeding = () => {
      isHeeded = false;
      stop();
    };
  }

  async #listen({ host, target }: Listening, attempt: object): Promise<void> {
    let address = host;
    try {
      if (host !== undefined && isIP(host) === 0)
        [address] = await this.#transport.resolve(host, undefined, target.context);
      if (this.#attempt !== attempt) return;
      this.#begin(this.#transport.listen({ ...target, ...(address !== undefined && { host: address }) }));
      process.nextTick(() => {
        // It may have been closed since.
        if (this.#listener !== undefined) this.emit('listening');
      });
    } catch (error) {
      if (this.#attempt !== attempt) return;
      this.#attempt = undefined;
      this.#stopHeeding?.();
      const place = { address: address ?? 'localhost', port: target.port ?? 0 };
      process.nextTick(() => this.emit('error', systemError('listen', error, place)));
    }
  }

  #begin(listener: StreamListener): void {
    this.#attempt = undefined;
    this.#listener = listener;
    localServers.add(listener.address.host, listener.address.port);
    const callbacks = this.#callbacks;
    listener.onStream = (stream) => callbacks.run(() => this.#onStream(stream));
    if (!this.#isReferenced) listener.unref();
  }

  #onStream(stream: StreamSocket): void {
    if (this.maxConnections !== undefined && this.#connections >= this.maxConnections) {
      stream.close(0);
      this.emit('drop', dropped(stream));
      return;
    }
    const { allowHalfOpen, highWaterMark, pauseOnConnect, keepAlive, keepAliveInitialDelay } = this.#options;
    this.#connections += 1;
    const inner: InnerOptions = {
      pauseOnCreate: pauseOnConnect,
      onClosed: () => {
        this.#connections -= 1;
        this.#callbacks.run(() => this.#tellWhenEmpty());
      },
    };
    const socket = new Socket({ stream, allowHalfOpen, highWaterMark, ...inner });
    socket.server = this;
    if (keepAlive === true) socket.setKeepAlive(true, keepAliveInitialDelay);
    this.emit('connection', socket);
  }

  #tellWhenEmpty(): void {
    if (this.#listener !== undefined || this.#attempt !== undefined || this.#connections > 0) return;
    process.nextTick(() => this.emit('close'));
  }
}

function dropped({ localAddress, remoteAddress }: StreamSocket): DropArgument {
  return {
    localAddress: localAddress.host,
    localPort: localAddress.port,
    localFamily: familyOf(localAddress.host),
    remoteAddress: remoteAddress.host,
    remotePort: remoteAddress.port,
    remoteFamily: familyOf(remoteAddress.host),
  };
}
