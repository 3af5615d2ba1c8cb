import type { Socket } from 'node:net';
import type { StreamSocket } from '../../entry/rsocket.js';

export interface Relayed {
  /** Bytes that came from the socket, and were taken by the stream. */
  readonly toStreamBytes: number;
  /** Bytes that came from the stream, and were handed to the socket. */
  readonly toSocketBytes: number;
  /** Why it ended otherwise than by both ends' will. */
  readonly error?: Error;
}

/**
 * Carries what comes from a socket of Node's to a stream over RDMA, and back: bytes, the end of either direction by itself, and failures. Neither side is
 * read faster than the other takes it. It begins at once; the socket may still be connecting.
 */
export class Relay {
  /** Resolves once both are closed. */
  readonly done: Promise<Relayed>;
  readonly #socket: Socket;
  readonly #stream: StreamSocket;
  #finish: (relayed: Relayed) => void = () => undefined;
  /** What came from the socket, and the stream had no room for. */
  #held: Uint8Array | undefined;
  #isSocketEnded = false;
  #isSocketFull = false;
  #isSocketClosed = false;
  #isStreamClosed = false;
  #toSocketBytes = 0;
  #error: Error | undefined;

  constructor(socket: Socket, stream: StreamSocket) {
    this.#socket = socket;
    this.#stream = stream;
    this.done = new Promise((resolve) => (this.#finish = resolve));
    stream.events = {
      readable: () => this.#pull(),
      writable: () => this.#push(),
      drained: () => undefined,
      closed: (error) => this.#streamClosed(error),
    };
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.on('end', () => this.#socketEnded());
    socket.on('drain', () => {
      this.#isSocketFull = false;
      this.#pull();
    });
    socket.on('error', (error) => (this.#error ??= error));
    socket.on('close', (hadError) => this.#socketClosed(hadError));
    socket.resume();
    // What came before there was anybody to tell.
    this.#pull();
  }

  /** Ends it: what was taken from either side is delivered, and no more is taken. */
  finish(): void {
    this.#socket.pause();
    this.#pull();
    this.#stream.close();
  }

  /** Ends it at once. */
  destroy(): void {
    this.#stream.close(0);
    abort(this.#socket);
  }

  #take(bytes: Uint8Array): void {
    this.#held = this.#held === undefined ? bytes : Buffer.concat([this.#held, bytes]);
    this.#push();
  }

  #push(): void {
    // Nobody is left who could want it; `closed` is told.
    if (this.#stream.isWriteEnded) this.#held = undefined;
    if (this.#held !== undefined) {
      const count = this.#attempt(this.#held);
      this.#held = count < this.#held.length ? this.#held.subarray(count) : undefined;
    }
    if (this.#held !== undefined) this.#socket.pause();
    else if (this.#isSocketClosed) this.#stream.shutdown('both');
    else if (this.#isSocketEnded) this.#stream.shutdown('write');
    else this.#socket.resume();
  }

  /** How many bytes the stream took; none from one that has failed, which `closed` tells of. */
  #attempt(bytes: Uint8Array): number {
    try {
      return this.#stream.write(bytes);
    } catch (error) {
      this.#error ??= error instanceof Error ? error : new Error(String(error));
      return 0;
    }
  }

  /** From the stream to the socket. A copy, since the socket may hold it for longer than the stream is there. */
  #pull(): void {
    const stream = this.#stream;
    const socket = this.#socket;
    while (!this.#isSocketFull && stream.readableBytes > 0) {
      const bytes = stream.peek();
      if (socket.writable) {
        this.#isSocketFull = !socket.write(Buffer.from(bytes));
        this.#toSocketBytes += bytes.length;
      }
      stream.consume(bytes.length);
    }
    if (stream.readableBytes > 0) return;
    if (this.#isStreamClosed) this.#leaveSocket();
    else if (stream.isReadEnded && socket.writable) socket.end();
  }

  #socketEnded(): void {
    this.#isSocketEnded = true;
    this.#push();
  }

  #socketClosed(hadError: boolean): void {
    this.#isSocketClosed = true;
    // What it sent before a failure is not worth more than the news of the failure. Else it is carried to its end, however long that takes.
    if (hadError) this.#stream.close(0);
    else this.#push();
    this.#settle();
  }

  #streamClosed(error: Error | undefined): void {
    this.#isStreamClosed = true;
    this.#error ??= error;
    this.#pull();
    this.#settle();
  }

  #leaveSocket(): void {
    if (this.#error === undefined) this.#socket.destroySoon();
    else abort(this.#socket);
  }

  #settle(): void {
    if (!this.#isSocketClosed || !this.#isStreamClosed) return;
    this.#finish({
      toStreamBytes: this.#stream.bytesWritten,
      toSocketBytes: this.#toSocketBytes,
      ...(this.#error === undefined ? {} : { error: this.#error }),
    });
  }
}

/** Ends a socket so that its peer does not take it for the end of what it reads. */
export function abort(socket: Socket): void {
  // Sockets of a path have no such thing as a reset.
  if (socket.remoteAddress === undefined) socket.destroy();
  else socket.resetAndDestroy();
}
