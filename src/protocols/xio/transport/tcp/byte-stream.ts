import type { SocketAddress } from '../../../../api/rdmacm/index.js';

/** Whoever follows a {@link ByteStream}. */
export interface StreamFollower {
  /** What has come: the follower's own from now on. */
  onBytes(bytes: Uint8Array): void;
  /** {@link ByteStream.unsentBytes} has become 0. May be told when it was 0 before. */
  onSent(): void;
  /** The peer sends no more. */
  onEnd(): void;
  /** It is over; the last that is told. @param error what has ended it, where nobody has */
  onClose(error: Error | undefined): void;
}

/** Bytes both ways, in order, as TCP has them. Nothing is told from within a call. */
export interface ByteStream {
  readonly localAddress: SocketAddress | undefined;
  readonly remoteAddress: SocketAddress | undefined;
  /** Bytes that were written and that the system has not taken: their memory is in use. */
  readonly unsentBytes: number;
  follow(follower: StreamFollower): void;
  /** Whether what comes is told; not, to begin with. What is not told waits. */
  setReading(isReading: boolean): void;
  write(bytes: Uint8Array): void;
  /** Tells the peer, behind all that was written, that no more comes. */
  end(): void;
  /** Gives it up; the system still sends what it has taken. */
  close(): void;
  /** Gives it up, and what the system has taken with it. */
  abort(): void;
  ref(): void;
  unref(): void;
}
