import type { SocketAddress } from '../../../api/rdmacm/index.js';
import type { Context } from '../../../api/verbs/index.js';
import type { Access, Body, MoveOutcome } from '../wire/index.js';

/** The transports that there are, as URLs name them: `rdma://host:port`. */
export type Scheme = 'rdma' | 'tcp';

/** Memory of the program's that something is done with. */
export interface InUse {
  /**
   * The program has its memory back from now on, though it may still be used: what reads it gets what was there before, and what is written to it is
   * lost. Idempotent.
   */
  takeBack(): void;
}

/** What keeps memory of this end within reach of the peer. */
export interface Held extends InUse {
  /** The peer is done with it. To be called after {@link takeBack} as well. Idempotent. */
  release(): void;
}

/** Memory that the peer may write the body of a response into. */
export interface Exposure extends Held {
  /** What is told to the peer, {@link TOKEN_BYTES} long. */
  readonly token: Uint8Array;
  /** The peer has written so many bytes: they lie in the memory when this returns, unless that was taken back. */
  land(byteLength: number): void;
}

/** Bytes of {@link Exposure.token}. */
export const TOKEN_BYTES = 16;

/** Memory that the peer reads or writes when it likes, until that is revoked. */
export interface LinkGrant {
  /** What is told to the peer, for {@link Link.move}: PLACE_BYTES of the wire's. */
  readonly place: Uint8Array;
  /** From now on nothing that the peer does reaches the memory, and it is told so. Nothing fails of it as long as {@link release} was not called. Idempotent. */
  revoke(): void;
  /** The peer has nothing under way there. The link ends where it has. Idempotent. */
  release(): void;
}

/** What a {@link Link.move} is to do. */
export interface Move {
  readonly isRead: boolean;
  /** {@link LinkGrant.place} of the peer's. */
  readonly place: Uint8Array;
  /** From which byte of the memory there. */
  readonly offset: number;
  /** Memory here: at least a byte, and no more than there is from there on. */
  readonly memory: Body;
}

export interface LinkReceiver {
  /**
   * A body is on its way that does not come with its head.
   *
   * @param head valid until this returns
   * @param bodyBytes as the link's peer says; 1 or more
   * @returns where it is to lie: exactly so long, in one piece or several. Undefined: anywhere; also when the link was closed meanwhile
   */
  landing(head: Uint8Array, bodyBytes: number): Body | undefined;

  /**
   * A message is here, in the order of sending.
   *
   * @param head valid until this returns
   * @param body what {@link landing} gave, or memory of its own, which nobody else uses any more, where `isLanded`; else valid until this returns.
   *   The body of a response that the peer has written into an {@link Exposure} is empty, and `writtenBytes` its length
   */
  onMessage(head: Uint8Array, body: Body, isLanded: boolean, writtenBytes: number): void;

  /** {@link Link.canSend} has become true. */
  onRoom(): void;

  /**
   * Nothing is sent or received any more; called once, also after `close`, though never before that returns. Bodies that were on their way do not come, and nobody
   * touches the memory of this end any more.
   *
   * @param failure why, where that is known; undefined when an end has closed it
   */
  onEnd(failure: Error | undefined): void;
}

export interface Clock {
  /** µs that never go back. */
  nowUs(): number;
  /** Calls `action` in so many ms, and keeps the process alive until then. @returns takes it back */
  timer(delayMs: number, action: () => void): () => void;
  /** The same for what nobody waits for: the process may end before. */
  chore(delayMs: number, action: () => void): () => void;
}

/**
 * A reliable connection of a transport: messages of a head and a body, in order, until it breaks. What was sent by then may have come or not.
 * How bodies get to the other side is its own affair.
 */
export interface Link {
  readonly scheme: Scheme;
  readonly localAddress: SocketAddress | undefined;
  readonly remoteAddress: SocketAddress | undefined;
  /** The device that it goes by, where it goes by one. */
  readonly context?: Context | undefined;
  /** Whether bodies can be written straight into memory of the peer: whether {@link expose} gives anything. */
  readonly hasRemoteMemory: boolean;
  /** The longest head. */
  readonly maxHeadBytes: number;
  readonly clock: Clock;
  /** How often anything was heard of the peer, or of what carries it. */
  readonly heard: number;

  /** Begins to deliver. Until then what comes waits. To be called once. */
  open(receiver: LinkReceiver): void;

  /** Whether {@link send} may be called; false also once the link has ended. {@link LinkReceiver.onRoom} is called when it becomes true. */
  readonly canSend: boolean;

  /**
   * Sends a message. {@link canSend} must be true.
   *
   * @param head copied before this returns
   * @param body where it is longer than what goes along with heads it is not copied: it has to stay as it is until the {@link Held} that this gives is released or
   *   taken back
   * @param target a token of the peer's, if the body may be written there: the peer gets it as `writtenBytes`, where the body is longer than what goes along
   *   with heads. Wrong tokens end the link
   * @param isApart has the body not go along with its head, however short it is
   * @returns undefined when the body was copied
   */
  send(head: Uint8Array, body: Body, target: Uint8Array | undefined, isApart?: boolean): Held | undefined;

  /** Lets the peer write into memory. @returns undefined where this link cannot, or this memory not */
  expose(bytes: Uint8Array): Exposure | undefined;

  /** Lets the peer use memory when it likes. @returns undefined where this link cannot, or this memory not */
  grant(bytes: Uint8Array, access: Access): LinkGrant | undefined;

  /**
   * Reads memory that the peer has granted on this link, or writes to it.
   *
   * @param onMoved is told what became of it, once, and not before this returns
   * @returns undefined where this link cannot, or not any more: nothing is told then
   */
  move(move: Move, onMoved: (outcome: MoveOutcome) => void): InUse | undefined;

  /** Memory that {@link LinkReceiver.landing} gave is the program's from now on: what still comes for it goes elsewhere. */
  redirect(landing: Body): void;

  /** Has the peer's end looked at, so that it is noticed when it is gone. */
  probe(): void;

  /** Whether it keeps the process alive: it does, to begin with. Idempotent. */
  ref(): void;
  unref(): void;

  /** Ends it: what was sent is still delivered where the peer is there, bodies that went along with their heads included; longer ones may be lost. Idempotent. */
  close(): void;

  /** Ends it at once. Idempotent. */
  abort(): void;
}
