import type { Socket } from 'node:net';
import type { SocketAddress } from '../../../../api/rdmacm/index.js';
import type { ByteStream, StreamFollower } from './byte-stream.js';

/** A connected socket of Node's as a stream of bytes. */
export class SocketStream implements ByteStream {
  readonly localAddress: SocketAddress | undefined;
  readonly remoteAddress: SocketAddress | undefined;
  #follower: StreamFollower | undefined;
  #error: Error | undefined;

  /** @param socket is not read yet, and `allowHalfOpen` */
  constructor(private readonly socket: Socket) {
    this.localAddress = addressOf(socket.localAddress, socket.localPort);
    this.remoteAddress = addressOf(socket.remoteAddress, socket.remotePort);
    socket.on('data', (bytes: Buffer) => this.#follower?.onBytes(bytes));
    socket.pause();
    socket.on('end', () => this.#follower?.onEnd());
    socket.on('error', (error) => (this.#error = error));
    socket.on('close', () => this.#follower?.onClose(this.#error));
  }

  get unsentBytes(): number {
    return this.socket.writableLength;
  }

  follow(follower: StreamFollower): void {
    this.#follower = follower;
  }

  setReading(isReading: boolean): void {
    if (isReading) this.socket.resume();
    else this.socket.pause();
  }

  write(bytes: Uint8Array): void {
    this.socket.write(bytes, this.#onWritten);
  }

  end(): void {
    this.socket.end();
  }

  close(): void {
    this.socket.destroy();
  }

  abort(): void {
    this.socket.resetAndDestroy();
  }

  ref(): void {
    this.socket.ref();
  }

  unref(): void {
    this.socket.unref();
  }

  readonly #onWritten = (error?: Error | null): void => {
    // Failures are told by `close`.
    if (!error && this.unsentBytes === 0) this.#follower?.onSent();
  };
}

function addressOf(host: string | undefined, port: number | undefined): SocketAddress | undefined {
  return host === undefined || port === undefined ? undefined : { host, port };
}
