import { addAbortSignal, Duplex } from 'node:stream';
import { Callbacks, CallbackTurn } from '../../api/runtime/index.js';
import type { StreamSocket } from '../rsocket/index.js';
import {
  checkFunction,
  checkSignal,
  checkTimeout,
  familyOf,
  infoOf,
  normalized,
  refuseObjectModes,
  refuseSystemSockets,
  type SocketAddressInfo,
} from './arguments.js';
import { connectTo } from './connecting.js';
import { DelayedFailure, isRead } from './delayed-failure.js';
import { closed, coded, endedByPeer, failed, systemError } from './errors.js';
import { type Chunk, gathered } from './gathering.js';
import { IdleTimer } from './idle-timer.js';
import { Incoming } from './incoming.js';
import { Outgoing, shutDown } from './outgoing.js';
import {
  type Destination,
  destinationOf,
  type InnerOptions,
  keepAliveSeconds,
  onreadOf,
  type SocketConnectOptions,
  type SocketOptions,
  type SocketReadyState,
} from './socket-options.js';
import { rsockets, type Transport } from './transport.js';

/** The first bytes of a TLS connection, either way: a record of type handshake, of major version 3. */
const HANDSHAKE = 22;
const MAJOR_VERSION = 3;

/**
 * Whether a chunk begins a TLS connection. `node:tls` writes to a socket that is not of `node:net` past the stream, whose end it does not
 * know of.
 */
function isTlsHandshake(chunk: unknown): boolean {
  return chunk instanceof Uint8Array && chunk[0] === HANDSHAKE && chunk[1] === MAJOR_VERSION;
}

type Done = (error?: Error | null) => void;

/**
 * A socket over RDMA in the shape of `net.Socket`: a Duplex with the same methods, properties, events and error codes.
 *
 * What is written is copied once, into registered memory, and what is read once, out of it into a buffer of its own.
 */
export class Socket extends Duplex {
  /** Between `connect()` and 'connect'. */
  connecting = false;
  /** What {@link setTimeout} was told, in ms. */
  timeout?: number | undefined;
  /** The server that it came to; one of HTTP puts itself here. */
  server: unknown;
  /** Empty: addresses are tried in turn. It is there because `net.Socket` has it. */
  readonly autoSelectFamilyAttemptedAddresses: string[] = [];

  readonly #transport: Transport;
  readonly #onClosed: (() => void) | undefined;
  readonly #incoming: Incoming;
  readonly #hasOnRead: boolean;
  readonly #isHalfOpen: boolean;
  readonly #outgoing = new Outgoing((error) => {
    this.#failure.set(error);
    this.#pulling.queue();
  });
  readonly #idle = new IdleTimer(
    () => this.#callbacks.run(() => this.emit('timeout')),
    () => (this.#outgoing.isBusy ? this.#stream?.bytesWritten : undefined),
  );
  /** Calls the listeners in the async context in which the socket was made or, as in Node, connected. */
  #callbacks = new Callbacks();
  #pulling = new CallbackTurn(this.#callbacks, () => this.#pull());
  #stream: StreamSocket | undefined;
  #attempt: AbortController | undefined;
  /** What `_final` was called with before there was a stream. */
  #ending: Done | undefined;
  /** Told when the stream has gone, after this object is destroyed. */
  #whenGone: (() => void) | undefined;
  #hasStreamEnded = false;
  #hasPeerEnded = false;
  readonly #failure = new DelayedFailure({
    hasUnread: () => this.#hasUnread,
    fail: (error) => this.#callbacks.run(() => this.#fail(error)),
  });
  /** The stream was lost: it has no end. */
  #isLost = false;
  /** The stream reads as ended. That counts a turn later: one that was lost says so only then. */
  #isEndSeen = false;
  #isReset = false;
  #isReferenced = true;
  #keepAliveSeconds = 0;

  /** @throws TypeError ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE for wrong options */
  constructor(options: SocketOptions = {}) {
    const { allowHalfOpen, highWaterMark, signal, stream } = options;
    refuseObjectModes({ ...options });
    refuseSystemSockets({ ...options });
    super({
      allowHalfOpen: Boolean(allowHalfOpen),
      // 'close' says whether there was an error.
      emitClose: false,
      autoDestroy: true,
      ...(highWaterMark !== undefined && { highWaterMark }),
    });
    const { transport = rsockets, onClosed, pauseOnCreate = false }: SocketOptions & InnerOptions = options;
    const onread = onreadOf({ ...options });
    this.#isHalfOpen = this.allowHalfOpen;
    this.#transport = transport;
    this.#onClosed = onClosed;
    this.#hasOnRead = onread !== undefined;
    this.#incoming = new Incoming((bytes) => this.push(bytes), onread);
    if (signal !== undefined) {
      checkSignal('options.signal', signal);
      // One that was aborted before ends what is to come, too: connect() begins a socket anew that was destroyed.
      if (signal.aborted) process.nextTick(() => addAbortSignal(signal, this));
      else addAbortSignal(signal, this);
    }
    if (stream === undefined) return;
    this.#attach(stream);
    if (pauseOnCreate) this.pause();
    else this.read(0);
  }

  /**
   * Connects, and emits 'connect' and 'ready'; when that fails, 'error' and 'close'.
   *
   * @throws TypeError, RangeError for wrong arguments, with Node's codes; Error ENOTSUP for paths
   */
  connect(target: SocketConnectOptions | number | string, onConnect?: () => void): this;
  connect(port: number | string, host: string, onConnect?: () => void): this;
  connect(...args: readonly unknown[]): this {
    const [options, callback] = normalized(args);
    const destination = destinationOf(options);
    if (this.destroyed) this.#begin();
    if (callback !== undefined) this.once('connect', callback);
    if (this.connecting || this.#stream !== undefined) {
      this.destroy(failed('connect', this.connecting ? 'EALREADY' : 'EISCONN'));
      return this;
    }
    const { keepAlive, keepAliveInitialDelay } = options;
    if (keepAlive === true) this.setKeepAlive(true, Number(keepAliveInitialDelay ?? 0));
    this.connecting = true;
    const attempt = new AbortController();
    this.#attempt = attempt;
    this.#callbacks = new Callbacks();
    this.#pulling = new CallbackTurn(this.#callbacks, () => this.#pull());
    void this.#connect(destination, attempt.signal);
    return this;
  }

  get pending(): boolean {
    return this.#stream === undefined || this.connecting;
  }

  get readyState(): SocketReadyState {
    if (this.connecting) return 'opening';
    if (this.readable) return this.writable ? 'open' : 'readOnly';
    return this.writable ? 'writeOnly' : 'closed';
  }

  /** Bytes that have been read from the stream. */
  get bytesRead(): number {
    return this.#incoming.bytesRead;
  }

  /** Bytes that were written, those that still wait included. */
  get bytesWritten(): number {
    return this.#outgoing.completedBytes + this.writableLength;
  }

  /** Bytes that wait to be written. As in Node, `writableLength` is what programs should ask. */
  get bufferSize(): number {
    return this.writableLength;
  }

  get localAddress(): string | undefined {
    return this.#stream?.localAddress.host;
  }

  get localPort(): number | undefined {
    return this.#stream?.localAddress.port;
  }

  get localFamily(): 'IPv4' | 'IPv6' | undefined {
    return this.#stream && familyOf(this.#stream.localAddress.host);
  }

  get remoteAddress(): string | undefined {
    return this.#stream?.remoteAddress.host;
  }

  get remotePort(): number | undefined {
    return this.#stream?.remoteAddress.port;
  }

  get remoteFamily(): 'IPv4' | 'IPv6' | undefined {
    return this.#stream && familyOf(this.#stream.remoteAddress.host);
  }

  /** Where this end is; an object without properties before it is connected. */
  address(): SocketAddressInfo | Record<string, never> {
    return this.#stream === undefined ? {} : infoOf(this.#stream.localAddress);
  }

  /** What the stream waits for where it cannot send, in a sentence. */
  explainStall(): string | undefined {
    return this.destroyed ? undefined : this.#stream?.explainStall();
  }

  /**
   * Has 'timeout' emitted whenever nothing has been read or written for so long; what to do then is the program's affair.
   *
   * @param timeoutMs 0: no more
   * @throws TypeError ERR_INVALID_ARG_TYPE; RangeError ERR_OUT_OF_RANGE
   */
  setTimeout(timeoutMs: number, onTimeout?: () => void): this {
    if (this.destroyed) return this;
    this.timeout = timeoutMs;
    const delayMs = checkTimeout('msecs', timeoutMs);
    if (onTimeout !== undefined) checkFunction('callback', onTimeout);
    this.#idle.set(delayMs);
    if (onTimeout === undefined) return this;
    if (delayMs === 0) this.removeListener('timeout', onTimeout);
    else this.once('timeout', onTimeout);
    return this;
  }

  /** There is nothing to turn off: whatever is written is sent at once. */
  setNoDelay(noDelay?: boolean): this;
  setNoDelay(): this {
    return this;
  }

  /**
   * Asks a silent peer whether it is there; when it is not, the socket ends with ETIMEDOUT.
   *
   * @param initialDelayMs of silence, rounded up to seconds; 0: two hours
   */
  setKeepAlive(enable = false, initialDelayMs = 0): this {
    this.#keepAliveSeconds = enable ? keepAliveSeconds(initialDelayMs) : 0;
    if (!this.destroyed) this.#stream?.setKeepAlive(this.#keepAliveSeconds);
    return this;
  }

  /** Has it keep the process alive, as it does to begin with. */
  ref(): this {
    this.#isReferenced = true;
    this.#stream?.ref();
    return this;
  }

  /** Lets the process end though it is there. */
  unref(): this {
    this.#isReferenced = false;
    this.#stream?.unref();
    return this;
  }

  /** Ends it, and destroys it when all is written. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  /** Ends it without sending what still waits; the peer is told ECONNRESET. One that is not connected is destroyed with ERR_SOCKET_CLOSED. */
  resetAndDestroy(): this {
    if (this.destroyed) return this;
    this.#isReset = true;
    if (this.connecting) this.once('connect', () => this.destroy());
    else if (this.#stream === undefined) this.destroy(closed());
    else this.destroy();
    return this;
  }

  // Into the program's own memory nothing is pushed, so that nothing asks for more.
  override resume(): this {
    this.#readOn();
    return super.resume();
  }

  override read(size?: number): unknown {
    this.#readOn();
    const chunk: unknown = super.read(size);
    if (this.#failure.error !== undefined) this.#pulling.queue();
    return chunk;
  }

  override pause(): this {
    if (this.#hasOnRead) this.#incoming.isWanted = false;
    return super.pause();
  }

  override write(chunk: unknown, encodingOrDone?: BufferEncoding | Done, done?: Done): boolean {
    // TLS ends the socket when it has written everything. Until then the peer's end must not.
    if (this.bytesWritten === 0 && this.writableCorked > 0 && isTlsHandshake(chunk)) this.allowHalfOpen = true;
    if (!this.#hasPeerEnded || this.#isHalfOpen || !this.writableEnded) {
      if (typeof encodingOrDone !== 'string') return super.write(chunk, encodingOrDone ?? done);
      return super.write(chunk, encodingOrDone, done);
    }
    const told = typeof encodingOrDone === 'function' ? encodingOrDone : done;
    // TLS writes past the stream, whose end it does not know of. Its writes are corked.
    const error = this.writableCorked > 0 && this.#outgoing.takeLastWord() ? null : endedByPeer();
    if (told !== undefined) process.nextTick(told, error);
    if (error !== null) this.destroy(error);
    return error === null;
  }

  /** @internal */
  override _read(): void {
    this.#incoming.isWanted = true;
    this.#pullSoon();
  }

  /** @internal */
  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: Done): void {
    this.#write([chunk], done);
  }

  /** @internal */
  override _writev(chunks: readonly Chunk[], done: Done): void {
    this.#write(gathered(chunks), done);
  }

  /** @internal */
  override _final(done: Done): void {
    if (this.connecting) this.#ending = done;
    else this.#shutDown(done);
  }

  /** @internal */
  override _destroy(error: Error | null, done: Done): void {
    this.connecting = false;
    this.#idle.set(0);
    this.#failure.cancel();
    this.#attempt?.abort();
    const isGraceful = error === null && this.writableFinished && !this.#isReset;
    const finish = (): void => {
      done(error);
      const left =
        error ?? (this.#stream === undefined ? coded(closed(), 'ERR_SOCKET_CLOSED_BEFORE_CONNECTION') : closed());
      process.nextTick(() => this.#outgoing.abandon(left));
      // As in Node, where a handle that was there says so.
      const tell = (): unknown => this.emit('close', error !== null);
      if (this.#stream === undefined) process.nextTick(() => this.#callbacks.run(tell));
      else this.#callbacks.call(tell);
      this.#onClosed?.();
    };
    if (this.#stream === undefined || this.#hasStreamEnded) {
      finish();
      return;
    }
    // What was written well is on its way; 'close' says that it is there, or that the peer cannot be had.
    if (isGraceful) this.#whenGone = finish;
    this.#stream.close(this.#isReset ? 0 : undefined);
    if (!isGraceful) finish();
  }

  async #connect(destination: Destination, signal: AbortSignal): Promise<void> {
    let stream: StreamSocket;
    try {
      stream = await connectTo(this.#transport, destination, signal, (...found) => this.emit('lookup', ...found));
    } catch (error) {
      this.#callbacks.call(() => {
        if (!signal.aborted) this.destroy(error instanceof Error ? error : new Error(String(error)));
      });
      return;
    }
    this.#callbacks.call(() => {
      if (signal.aborted) stream.close();
      else this.#onConnected(stream);
    });
  }

  #onConnected(stream: StreamSocket): void {
    this.connecting = false;
    this.#attach(stream);
    // 'drain' has a turn of its own, after 'connect'.
    if (this.#outgoing.isBusy) this.#callbacks.call(() => this.#flush());
    if (this.#ending !== undefined) this.#shutDown(this.#ending);
    this.#ending = undefined;
    this.emit('connect');
    this.emit('ready');
    if (!this.isPaused()) this.read(0);
  }

  #attach(stream: StreamSocket): void {
    this.#stream = stream;
    stream.events = {
      readable: () => this.#callbacks.run(() => this.#pull()),
      writable: () => this.#callbacks.run(() => this.#flush()),
      closed: (error) => this.#callbacks.run(() => this.#onStreamClosed(error)),
    };
    if (!this.#isReferenced) stream.unref();
    if (this.#keepAliveSeconds > 0) stream.setKeepAlive(this.#keepAliveSeconds);
    this.#idle.touch();
  }

  /** Forgets the connection that was, for another one. */
  #begin(): void {
    // Node's streams have it, its declarations do not.
    (this as unknown as { _undestroy(): void })._undestroy();
    this.#stream = undefined;
    this.allowHalfOpen = this.#isHalfOpen;
    this.#failure.clear();
    this.#isLost = false;
    this.#isEndSeen = false;
    this.#hasStreamEnded = false;
    this.#hasPeerEnded = false;
    this.#isReset = false;
    this.#incoming.isWanted = false;
    this.#incoming.bytesRead = 0;
    this.#outgoing.begin();
  }

  /** Hands on one chunk, or reports the end or the failure. It has a turn of the event loop, and is never called from `_read`. */
  #pull(): void {
    const stream = this.#stream;
    if (stream === undefined || this.destroyed) return;
    if (!this.#hasPeerEnded) this.#pullFrom(stream);
    this.#failure.report();
  }

  #pullFrom(stream: StreamSocket): void {
    const before = this.#incoming.bytesRead;
    try {
      this.#incoming.pull(stream, this.readableFlowing === true && this.readableLength === 0);
    } finally {
      // Also when a listener has thrown: the rest is there for the next turn.
      if (this.#incoming.bytesRead !== before) this.#pullSoon();
    }
    if (this.#incoming.bytesRead !== before) this.#idle.touch();
    else if (stream.readableBytes === 0 && stream.isReadEnded && !this.#isLost) {
      if (this.#isEndSeen) {
        this.#hasPeerEnded = true;
        this.push(null);
        // Has 'end' emitted though nobody reads.
        super.read(0);
      } else this.#isEndSeen = true;
      this.#pulling.queue();
    }
  }

  #pullSoon(): void {
    const stream = this.#stream;
    if (stream === undefined || this.destroyed) return;
    const hasNext = stream.readableBytes > 0 ? this.#incoming.isWanted : stream.isReadEnded && !this.#hasPeerEnded;
    if (hasNext || this.#failure.error !== undefined) this.#pulling.queue();
  }

  #fail(failure: Error): void {
    if (this.destroyed) return;
    // A write that is under way is told first, and destroys the socket.
    if (this.#outgoing.isBusy) this.#outgoing.abandon(failure);
    else this.destroy(failure);
  }

  /** Whether bytes have come, or the end, that somebody is going to read. */
  get #hasUnread(): boolean {
    const stream = this.#stream;
    if (stream === undefined || !(this.#hasOnRead || isRead(this))) return false;
    if (this.#hasPeerEnded) return !this.readableEnded;
    return this.readableLength + stream.readableBytes > 0 || (stream.isReadEnded && !this.#isLost);
  }

  #readOn(): void {
    if (!this.#hasOnRead || this.#incoming.isWanted) return;
    this.#incoming.isWanted = true;
    this.#pullSoon();
  }

  #write(pieces: readonly Uint8Array[], done: Done): void {
    if (this.#stream === undefined && !this.connecting) {
      done(closed());
      return;
    }
    this.#idle.touch();
    this.#outgoing.write(pieces, done);
    this.#flush();
  }

  #flush(): void {
    if (this.#stream === undefined || this.destroyed) return;
    if (this.#outgoing.flush(this.#stream)) this.#idle.touch();
  }

  #shutDown(done: Done): void {
    done(shutDown(this.#stream));
  }

  #onStreamClosed(error: Error | undefined): void {
    this.#hasStreamEnded = true;
    if (this.destroyed) {
      this.#whenGone?.();
      return;
    }
    const { isBusy } = this.#outgoing;
    if (error !== undefined && !(this.#hasPeerEnded && this.writableFinished)) {
      this.#isLost = true;
      this.#failure.set(systemError(isBusy ? 'write' : 'read', error));
    } else if (isBusy) this.#failure.set(failed('write', 'EPIPE'));
    this.#pull();
  }
}
