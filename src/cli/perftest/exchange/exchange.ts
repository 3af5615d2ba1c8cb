import { ToolError } from '../../kit/errors.js';
import type { Keys } from './keys.js';

/** The peer is gone, which of some tests is the regular end. */
export class PeerLeft extends ToolError {}

/** The channel by which the two sides of a test exchange keys and results. */
export interface Exchange {
  /**
   * Gives the peer something and takes as much from it. The side without a host name answers only once it was told, so that
   * both are at the same place when it returns.
   *
   * @param what it is, for when it does not come
   * @throws PeerLeft
   */
  swap(own: Uint8Array, what: string): Promise<Buffer>;

  /** The same with what the peer must know of a queue pair. @throws PeerLeft; ToolError when that is not what comes */
  swapKeys(own: Keys): Promise<Keys>;

  /** The version of the peer's tool, from when it is known: what keys look like may depend on it. */
  peerVersion: number;

  /** Whether the peer has gone on to the next handshake, as far as that can be told, so that nothing more comes before it. */
  readonly peerWaits: boolean;

  /** Whether the peer has ended the exchange, and nothing that it said is left to be read. */
  readonly hasPeerLeft: boolean;

  /** Ends it, and waits a moment for the peer to do so, who may still need our NIC. */
  close(): Promise<void>;
}
