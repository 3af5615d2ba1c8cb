import type { Gid } from '../ibta/index.js';
import type { ConnectionActions } from './connections/connection-rules.js';

/** What a program's identifier stands for once it is in use: a connection, or a service that is resolved. */
export interface Conversation {
  /** Ends it for the program, with what the protocol owes the peer. It may live on without the program. */
  abandon(): void;
}

/** A connection as it is found by its ID: what its finder may ask and do. */
export interface KnownConnection extends Conversation, ConnectionActions {
  /** Whether we have agreed, and have not heard that the peer is ready. */
  readonly isAgreed: boolean;
  /** Whether a message of that sender is the peer's, and names the connection as the peer does. */
  isFrom(sender: Gid, commId: number): boolean;
  /**
   * The peer's first message has come: it has our reply.
   *
   * @throws CmError EISCONN when that is known, EINVAL before the request was accepted
   */
  notify(): void;
  /** The peer uses its queue pair for another connection: it has forgotten this one (protocol/connections.md 4.4). */
  becomeStale(): void;
  /** Others need the place of one that its program has left: what is owed to the peer was said once at least. */
  giveUpFarewell(): void;
}
