import type { RemoteValue } from '../wire/index.js';

/** Registered memory that holds a value on its way. */
export interface ValueBuffer {
  /** At least as many as were asked for. What others have left in them is still there. */
  readonly bytes: Uint8Array;
  /** For requests of this side. */
  readonly addr: number;
  readonly lkey: number;
  /** No request uses it any more. To be called once. */
  release(): void;
}

/** One value on its way between a client's memory and the server's. */
export interface Transfer {
  /** Which way: READ brings it to the server, WRITE to the client. */
  readonly isWrite: boolean;
  readonly remote: RemoteValue;
  readonly buffer: ValueBuffer;
  /** Bytes of the value. */
  readonly length: number;
  /** Called once: it is there, or never will be. Nobody touches the buffer any more. */
  done(isThere: boolean): void;
}
