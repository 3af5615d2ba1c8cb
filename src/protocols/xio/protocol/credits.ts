import type { Limits } from '../wire/index.js';

/** The most that is received without a word to the peer, who keeps it until then. */
const MOST_UNACKNOWLEDGED = 16;

/** Credit for requests comes back when their answers are acknowledged, which must not wait for the last quarter of it. */
export function ackEvery(peer: Limits | undefined): number {
  return Math.max(1, Math.min(MOST_UNACKNOWLEDGED, (peer?.queueMessages ?? 0) >> 2));
}

/**
 * What this end may send: requests and messages, and bytes of their bodies. All counts are of the life of the session, so that they outlive connections.
 */
export class SendCredits {
  #sentMessages = 0;
  #sentBytes = 0;
  /** What the peer can be done with: messages that it has, and requests that it has answered. */
  #doneMessages = 0;
  #comeBytes = 0;
  #grantedMessages: number;
  #grantedBytes: number;

  /** @param peer what the peer takes, of which nothing was sent yet */
  constructor(private readonly peer: Limits) {
    this.#grantedMessages = peer.queueMessages;
    this.#grantedBytes = peer.queueBytes;
  }

  /** Whether another may be sent. */
  allow(bodyBytes: number): boolean {
    return this.#sentMessages < this.#grantedMessages && this.#sentBytes + bodyBytes <= this.#grantedBytes;
  }

  take(bodyBytes: number): void {
    this.#sentMessages += 1;
    this.#sentBytes += bodyBytes;
  }

  /** One that was taken has not come, and will not. */
  untake(bodyBytes: number): void {
    this.#sentMessages -= 1;
    this.#sentBytes -= bodyBytes;
  }

  /** The peer has one. @param isDone whether it may be done with it: a request it has to answer before */
  come(bodyBytes: number, isDone: boolean): void {
    this.#comeBytes += bodyBytes;
    if (isDone) this.#doneMessages += 1;
  }

  answered(): void {
    this.#doneMessages += 1;
  }

  /** The peer says how much may have been sent in all. @returns what cannot be true of it */
  grant(messages: number, bytes: number): string | undefined {
    if (messages < this.#grantedMessages || bytes < this.#grantedBytes)
      return `it grants ${messages} messages and ${bytes} bytes, where it has granted ${this.#grantedMessages} and ${this.#grantedBytes} before`;
    // Who grants more than this has what is kept for it, or waits for its answers, grow without end.
    if (messages > this.#doneMessages + this.peer.queueMessages || bytes > this.#comeBytes + this.peer.queueBytes)
      return `it grants ${messages} messages and ${bytes} bytes, which is more than it has room for`;
    this.#grantedMessages = messages;
    this.#grantedBytes = bytes;
    return undefined;
  }
}

/** What the peer may send. */
export class ReceiveCredits {
  #receivedMessages = 0;
  #receivedBytes = 0;
  #announcedBytes = 0;
  #grantedMessages: number;
  #grantedBytes: number;
  #toldMessages: number;
  #toldBytes: number;
  readonly #maxBodyBytes: number;
  /** From how much on the peer is told, if need be by a message of its own: it must never be without room for the longest body for want of word. */
  readonly #dueMessages: number;
  readonly #dueBytes: number;

  constructor({ queueMessages, queueBytes, maxBodyBytes }: Limits) {
    this.#grantedMessages = this.#toldMessages = queueMessages;
    this.#grantedBytes = this.#toldBytes = queueBytes;
    this.#maxBodyBytes = maxBodyBytes;
    this.#dueMessages = queueMessages >> 1;
    this.#dueBytes = Math.max(1, Math.min(queueBytes / 2, queueBytes - maxBodyBytes));
  }

  /** What messages to the peer carry; say {@link tell} when one does. */
  get messages(): number {
    return this.#grantedMessages;
  }

  get bytes(): number {
    return this.#grantedBytes;
  }

  get isDue(): boolean {
    const messages = this.#grantedMessages - this.#toldMessages;
    const bytes = this.#grantedBytes - this.#toldBytes;
    if (messages >= this.#dueMessages || bytes >= this.#dueBytes) return true;
    // The peer may wait for no more than that: what is held meanwhile may be held for ever.
    const isDry = this.#receivedMessages >= this.#toldMessages;
    const isShort = this.#receivedBytes + this.#maxBodyBytes > this.#toldBytes;
    return (messages > 0 && isDry) || (bytes > 0 && isShort);
  }

  tell(): void {
    this.#toldMessages = this.#grantedMessages;
    this.#toldBytes = this.#grantedBytes;
  }

  /** A body begins to come. @returns false where the peer has no credit for it */
  announce(bytes: number): boolean {
    this.#announcedBytes += bytes;
    return this.#receivedBytes + this.#announcedBytes <= this.#toldBytes;
  }

  /** The connection is lost: what was on its way does not come. */
  forgetAnnounced(): void {
    this.#announcedBytes = 0;
  }

  /** One has come. @param wasAnnounced whether its body was. @returns false where the peer had no credit for it */
  arrive(bytes: number, wasAnnounced: boolean): boolean {
    if (wasAnnounced) this.#announcedBytes -= bytes;
    this.#receivedMessages += 1;
    this.#receivedBytes += bytes;
    return this.#receivedMessages <= this.#toldMessages && this.#receivedBytes <= this.#toldBytes;
  }

  release(messages: number, bytes: number): void {
    this.#grantedMessages += messages;
    this.#grantedBytes += bytes;
  }
}
