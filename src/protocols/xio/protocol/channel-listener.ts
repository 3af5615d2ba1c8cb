import type { Body, Head, XioStatus } from '../wire/index.js';
import type { Item } from './item.js';

/** What a channel tells whoever has it. It may be asked for anything within these calls. */
export interface ChannelListener<I extends Item> {
  /** A request has come, once and for all. It is to be answered by {@link Channel.respond}, whatever happens. */
  onRequest(head: Head, header: Uint8Array, body: Body): void;
  /** A message has come, which is to be let go of by {@link Channel.release}. */
  onMessage(head: Head, header: Uint8Array, body: Body): void;
  /** A request was answered that was not given up. */
  onResponse(request: I, head: Head, header: Uint8Array, body: Body): void;
  /** The peer's program has let go of a message that has asked for word of that. */
  onReceipt(message: I): void;
  /** The requester has given up what it has asked for under that number. */
  onCancel(sn: number): void;
  /** The peer has it. It may be answered before this is known. */
  onAcknowledged(item: I): void;
  /** It was given up, and the peer will not ask for its memory any more. */
  onGone(item: I): void;
  /** It will never be answered, or acknowledged. */
  onFailed(item: I, status: XioStatus): void;
  /** What has come under that number is not to be answered any more: the peer that has asked is gone. */
  onForgotten(sn: number): void;
  /** The peer begins nothing any more, and waits for nothing. */
  onFin(): void;
  /** The server sends the session on. @returns what cannot be true of that */
  onMove(addresses: readonly string[]): string | undefined;
}
