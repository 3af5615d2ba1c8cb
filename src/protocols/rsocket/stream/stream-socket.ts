import type { CmRoute, FullAddress } from '../../../api/rdmacm/index.js';

/** Which direction of a stream ends: `SHUT_RD`, `SHUT_WR`, `SHUT_RDWR`. */
export type Direction = 'read' | 'write' | 'both';

/**
 * The listeners of a stream. Each call has its own turn of the event loop: ticks and microtasks run before the stream, or another one, calls
 * the next listener. Each runs in the async context (`AsyncLocalStorage`) of the call that made the stream: `connectStream` or
 * `listenStreams`. Listeners may call the stream. `readable` and `writable` report changes only: read until nothing is left, and write
 * until `write` takes fewer bytes than it was given.
 */
export interface StreamEvents {
  /** There is something to read where there was nothing, or nothing more will come. */
  readable(): void;
  /** `write` takes bytes again, after it took fewer than it was given: half of the send buffer at the least. */
  writable(): void;
  /** The peer's adapter has all that was written. */
  drained?(): void;
  /**
   * Both directions have ended, and no more is told. What has come can still be read.
   *
   * @param error why it ended otherwise than by both ends' will: ECONNRESET, ETIMEDOUT, EIO, ENODEV; EPROTO when the peer broke the protocol
   */
  closed(error: Error | undefined): void;
}

/** A connected socket of type SOCK_STREAM, every call of which returns at once: what calls, streams and tools are made of. */
export interface StreamSocket {
  /** Who is told of what happens. What happened before it was set is told then. */
  events: StreamEvents;
  readonly localAddress: FullAddress;
  readonly remoteAddress: FullAddress;
  /** Bytes that the program has read. */
  readonly bytesRead: number;
  /** Bytes that were taken by {@link write}. */
  readonly bytesWritten: number;
  /** Bytes that can be read now. */
  readonly readableBytes: number;
  /** Nothing comes after those. */
  readonly isReadEnded: boolean;
  /** Nothing can be written any more. */
  readonly isWriteEnded: boolean;
  /** Bytes that were written, and that the peer's adapter is not known to have. */
  readonly unacknowledgedBytes: number;

  /**
   * Sends as much as there is room for. The bytes are copied.
   *
   * @returns how many bytes were taken, from 0; when not all, `writable` is told once there is room
   * @throws RsocketError EPIPE after {@link shutdown}; ECONNRESET, or what it ended by, when the connection has ended
   */
  write(bytes: Uint8Array): number;

  /** Reads what has come. @returns how many bytes, from 0 */
  read(into: Uint8Array): number;

  /** What has come, up to where the receive buffer wraps, without a copy; it stays in place until it is consumed. Empty when there is nothing. */
  peek(): Uint8Array;

  /** The program has done with the first bytes of {@link peek}. @param byteLength up to its length */
  consume(byteLength: number): void;

  /** Ends one direction or both. What was written is sent before. What has come and was not read is lost when reading alone ends. Idempotent. */
  shutdown(direction: Direction): void;

  /** Ends it, and has the connection go: what was written is sent first, within so many ms (`lingerMs`, default 5000; 0: at once). `closed` is told. Idempotent. */
  close(lingerMs?: number): void;

  /** Sends a keepalive whenever the connection has been silent for so long. @param seconds 1 to 32767; 0: no more */
  setKeepAlive(seconds: number): void;

  /** Whether it keeps the process alive. So far it always does, and these change nothing. */
  ref(): void;
  unref(): void;

  /** What it waits for, in a sentence, where it cannot send: credits, a buffer of the peer, its own send buffer. */
  explainStall(): string | undefined;
}

/** Memory that the ends of a stream write to without a word: `riomap` and what belongs to it. */
export interface StreamIomap {
  /**
   * Has the peer write into memory whenever it likes, without a word (`riomap`). It knows of it before it can read what is written from now on.
   *
   * @param bytes exactly these; from `alloc()` of the root, or what `Pd.regMr` says
   * @param offset by which the peer names the first of them, 64 bits; -1 for its address here
   * @returns that offset
   * @throws RsocketError ENOMEM when the peer's table has no entry left (`StreamOptions.iomapSize` of the peer); ECONNRESET or EPIPE as `write`;
   *   VerbsError as `Pd.regMr`; EINVAL for an offset that is none
   */
  riomap(bytes: Uint8Array, offset: number | bigint): bigint;

  /**
   * Has the peer write there no longer (`riounmap`). A peer that does so nevertheless ends the connection.
   *
   * @param bytes the same that were mapped
   * @throws RsocketError EINVAL when they are not mapped
   */
  riounmap(bytes: Uint8Array): void;

  /**
   * Writes into memory that the peer has mapped (`riowrite`), before all that is written to the stream afterwards. The bytes are copied.
   *
   * @param offset as the peer names it
   * @returns how many bytes were taken: up to the end of what is mapped there, see {@link mappedBytes}; when there is no room for them,
   *   `writable` is told once there is
   * @throws RsocketError as `write`
   */
  riowrite(bytes: Uint8Array, offset: number | bigint): number;

  /** How many bytes the peer has mapped from that offset on; 0 for none. */
  mappedBytes(offset: number | bigint): number;
}

/** What a stream knows of what carries it. */
export interface StreamCarrier {
  /** The way to the peer. */
  readonly route: CmRoute;
  /** Entries of its send queue, as many as the device has granted. */
  readonly sqSize: number;
}

/** A stream of this package. */
export type RsocketStreamSocket = StreamSocket & StreamIomap & StreamCarrier;
