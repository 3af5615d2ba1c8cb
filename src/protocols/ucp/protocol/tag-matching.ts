import { UcsStatus } from '../wire/index.js';
import { partOf, putInto, putRest } from './program-bytes.js';
import type { Tag } from './tag.js';
import { type Expected, ExpectedQueue, UnexpectedQueue } from './tag-queues.js';

/** What has come by tags. The names are UCX's (ucp_worker_t's statistics, ucp/core/ucp_worker.c) where UCX has such. */
export interface TagCounters {
  /** Messages that came without being announced, and not by a synchronous send. */
  rxEagerMsg: number;
  /** The same by a synchronous send. */
  rxSyncMsg: number;
  /** Messages, or parts of one, for which a receive was there. */
  rxEagerChunkExp: number;
  /** Those for which there was none, so that they were kept. */
  rxEagerChunkUnexp: number;
  /** Bytes of both. */
  rxEagerBytes: number;
  /** Messages that were announced, and for which a receive was there. */
  rxRndvRtsExp: number;
  rxRndvRtsUnexp: number;
}

/** All 0. */
export function tagCounters(): TagCounters {
  return {
    rxEagerMsg: 0,
    rxSyncMsg: 0,
    rxEagerChunkExp: 0,
    rxEagerChunkUnexp: 0,
    rxEagerBytes: 0,
    rxRndvRtsExp: 0,
    rxRndvRtsUnexp: 0,
  };
}

export interface TagReceive extends Expected {
  readonly buffer: Uint8Array;
  /**
   * It has ended. The buffer is not touched any more.
   *
   * @param status UCS_OK; UCS_ERR_MESSAGE_TRUNCATED for a message longer than the buffer, which is as it was; UCS_ERR_CANCELED; why the peer has gone
   * @param message what has come for it, if anything has
   */
  onDone(status: UcsStatus, message: TagInfo | undefined): void;
}

export interface TagInfo {
  readonly tag: Tag;
  /** Bytes of all of it. */
  readonly length: number;
}

/** Brings a message of which its sender has said only that it is there. Each ends in one of these ways, or is {@link TagPeer.withdraw withdrawn}. */
export interface MessageSource {
  /**
   * A receive was found for it.
   *
   * @param into as long as the message; nobody touches it once it has ended
   * @param onEnded is called once, before this returns perhaps, unless it is canceled
   */
  fetch(into: Uint8Array, onEnded: (status: UcsStatus) => void): void;
  /** After {@link fetch}: the memory is not to be touched any more, from now on. */
  cancel(): void;
  /** A receive was found, whose buffer is too short. */
  discard(): void;
}

/** What a message costs that is only announced: more than its bytes on the wire. */
export const ANNOUNCEMENT_COST = 512;

/** What a message costs beside its bytes, so that messages of no bytes have a limit as well. */
export const MESSAGE_COST = 64;

export class TagMessage implements TagInfo {
  /** Its bytes, where no receive was there for them. */
  kept: Uint8Array | undefined;
  receive: TagReceive | undefined;
  receivedBytes = 0;
  /** Why the rest of it will not come. */
  failure: UcsStatus | undefined;
  /** What it takes of what there is for messages that nobody has asked for. */
  cost = 0;

  /**
   * @param onMatched is told when a receive was found for it: of a synchronous send
   * @param source of one that is only announced
   */
  constructor(
    readonly tag: Tag,
    readonly length: number,
    readonly onMatched?: (() => void) | undefined,
    readonly source?: MessageSource,
  ) {}

  get isComplete(): boolean {
    return this.receivedBytes === this.length;
  }
}

/**
 * Which message goes to which receive, and how it gets there: a machine without a clock and without transport. Messages of a peer match in the order in which they were sent,
 * receives in the order in which they were posted.
 */
export class TagMatching {
  readonly #expected = new ExpectedQueue<TagReceive>();
  readonly #unexpected = new UnexpectedQueue<TagMessage>();
  readonly #underWay = new Map<TagReceive, TagMessage>();
  #keptBytes = 0;
  #isClosed = false;

  /**
   * @param limitBytes for messages that nobody has asked for, of all peers together; each costs {@link MESSAGE_COST} more
   * @param counters what has come is counted there
   */
  constructor(
    readonly limitBytes: number,
    private readonly counters: TagCounters = tagCounters(),
  ) {}

  /** What those messages take that nobody has asked for. */
  get keptBytes(): number {
    return this.#keptBytes;
  }

  /** A peer, whose messages come in the order in which it sends them. */
  peer(): TagPeer {
    return new TagPeer(this);
  }

  /** Posts a receive. It may end before this returns. */
  post(receive: TagReceive): void {
    const message = this.take(receive);
    if (message !== undefined) this.receive(message, receive);
    else if (this.#isClosed) receive.onDone(UcsStatus.UCS_ERR_CANCELED, undefined);
    else this.#expected.add(receive);
  }

  /** No message comes any more: receives that wait for one end with UCS_ERR_CANCELED, now and from now on. */
  close(): void {
    this.#isClosed = true;
    for (const receive of this.#expected.takeAll()) receive.onDone(UcsStatus.UCS_ERR_CANCELED, undefined);
  }

  /** Gives a receive up. @returns false where it has ended */
  cancel(receive: TagReceive): boolean {
    const message = this.#underWay.get(receive);
    if (message === undefined && !this.#expected.remove(receive)) return false;
    message?.source?.cancel();
    this.#end(receive, UcsStatus.UCS_ERR_CANCELED, message);
    return true;
  }

  /** What a receive would get now. */
  probe(wanted: Expected): TagInfo | undefined {
    return this.#unexpected.find(wanted);
  }

  /** The same, which then is for {@link receive} alone. */
  take(wanted: Expected): TagMessage | undefined {
    const message = this.#unexpected.find(wanted);
    if (message !== undefined) this.#unexpected.remove(message);
    return message;
  }

  /** Gives a message that was taken to a receive. It may end before this returns. To be called once for a message. */
  receive(message: TagMessage, receive: TagReceive): void {
    const { kept, receivedBytes, failure } = message;
    if (failure !== undefined) {
      receive.onDone(failure, message);
      return;
    }
    this.#release(message);
    this.#match(message, receive);
    if (kept === undefined) return;
    if (message.receive !== undefined) this.#fill(message, 0, kept.subarray(0, receivedBytes));
  }

  /**
   * @internal A message has come as a whole, for which a receive may be there: then it need not be known any longer.
   *
   * @param bytes its data is what lies from `at` on
   * @returns false where there is none
   */
  whole(tag: Tag, bytes: Uint8Array, at: number, onMatched: (() => void) | undefined): boolean {
    const receive = this.#expected.take(tag);
    if (receive === undefined) return false;
    onMatched?.();
    const length = bytes.length - at;
    this.#countMessage(onMatched);
    this.counters.rxEagerChunkExp += 1;
    this.counters.rxEagerBytes += length;
    const { buffer } = receive;
    const isTooLong = length > buffer.byteLength;
    if (!isTooLong) putRest(buffer, bytes, at);
    receive.onDone(isTooLong ? UcsStatus.UCS_ERR_MESSAGE_TRUNCATED : UcsStatus.UCS_OK, { tag, length });
    return true;
  }

  /** @internal A message has begun to come. @returns false where it cannot be kept */
  begin(message: TagMessage): boolean {
    const receive = this.#expected.take(message.tag);
    const isAnnounced = message.source !== undefined;
    if (receive !== undefined) {
      if (isAnnounced) this.counters.rxRndvRtsExp += 1;
      else this.#countMessage(message.onMatched);
      this.#match(message, receive);
      return true;
    }
    const cost = isAnnounced ? ANNOUNCEMENT_COST : MESSAGE_COST + message.length;
    if (this.#keptBytes + cost > this.limitBytes) return false;
    if (isAnnounced) this.counters.rxRndvRtsUnexp += 1;
    else this.#countMessage(message.onMatched);
    this.#keptBytes += cost;
    message.cost = cost;
    if (!isAnnounced) message.kept = new Uint8Array(message.length);
    this.#unexpected.add(message);
    return true;
  }

  /** @internal The next bytes of a message have come. */
  continue(message: TagMessage, payload: Uint8Array): void {
    const at = message.receivedBytes;
    message.receivedBytes += payload.length;
    if (message.kept === undefined) this.counters.rxEagerChunkExp += 1;
    else this.counters.rxEagerChunkUnexp += 1;
    this.counters.rxEagerBytes += payload.length;
    if (message.kept !== undefined) message.kept.set(payload, at);
    else if (message.receive !== undefined) this.#fill(message, at, payload);
  }

  /** @internal The rest of a message will not come. */
  abandon(message: TagMessage, status: UcsStatus): void {
    message.failure = status;
    this.#unexpected.remove(message);
    this.#release(message);
    if (message.receive !== undefined) this.#end(message.receive, status, message);
  }

  #match(message: TagMessage, receive: TagReceive): void {
    message.onMatched?.();
    const { source, length } = message;
    if (length > receive.buffer.byteLength) {
      source?.discard();
      receive.onDone(UcsStatus.UCS_ERR_MESSAGE_TRUNCATED, message);
      return;
    }
    message.receive = receive;
    this.#underWay.set(receive, message);
    source?.fetch(partOf(receive.buffer, 0, length), (status) => {
      if (message.receive !== undefined) this.#end(message.receive, status, message);
    });
  }

  #fill(message: TagMessage, at: number, payload: Uint8Array): void {
    const { receive } = message;
    if (receive === undefined) return;
    putInto(receive.buffer, payload, at);
    if (message.isComplete) this.#end(receive, UcsStatus.UCS_OK, message);
  }

  #end(receive: TagReceive, status: UcsStatus, message: TagMessage | undefined): void {
    this.#underWay.delete(receive);
    // What is still to come goes nowhere.
    if (message !== undefined) message.receive = undefined;
    receive.onDone(status, message);
  }

  #countMessage(onMatched: (() => void) | undefined): void {
    if (onMatched === undefined) this.counters.rxEagerMsg += 1;
    else this.counters.rxSyncMsg += 1;
  }

  #release(message: TagMessage): void {
    message.kept = undefined;
    this.#keptBytes -= message.cost;
    message.cost = 0;
  }
}

/** Why nothing that comes from a peer can be trusted, or kept, any more. */
export interface PeerProblem {
  /** UCS_ERR_IO_ERROR for what makes no sense, UCS_ERR_EXCEEDS_LIMIT for more than can be kept. */
  readonly status: UcsStatus;
  readonly text: string;
}

function lie(text: string): PeerProblem {
  return { status: UcsStatus.UCS_ERR_IO_ERROR, text };
}

/** What comes from one peer. */
export class TagPeer {
  /** Messages that have come in part, by the peer's numbers. */
  readonly #open = new Map<number, TagMessage>();

  constructor(private readonly matching: TagMatching) {}

  /** Whether the rest of a message is expected. */
  get isWaiting(): boolean {
    return this.#open.size > 0;
  }

  /** A message has come. @param onMatched as of {@link TagMessage}. @param at where in the bytes its data begins, which goes to their end */
  only(tag: Tag, bytes: Uint8Array, onMatched?: () => void, at = 0): PeerProblem | undefined {
    if (this.matching.whole(tag, bytes, at, onMatched)) return undefined;
    const payload = bytes.subarray(at);
    const message = new TagMessage(tag, payload.length, onMatched);
    if (!this.matching.begin(message)) return this.#tooMuch(message);
    this.matching.continue(message, payload);
    return undefined;
  }

  /** The first bytes of a message have come, of `total`. */
  first(
    tag: Tag,
    total: number,
    messageId: number,
    payload: Uint8Array,
    onMatched?: () => void,
  ): PeerProblem | undefined {
    if (this.#open.has(messageId)) return lie(`message ${messageId} begins twice`);
    if (payload.length >= total) return lie(`the first ${payload.length} bytes are of a message of ${total}`);
    const message = new TagMessage(tag, total, onMatched);
    if (!this.matching.begin(message)) return this.#tooMuch(message);
    this.#open.set(messageId, message);
    this.matching.continue(message, payload);
    return undefined;
  }

  /** The next bytes of one have come. */
  middle(messageId: number, offset: number, payload: Uint8Array): PeerProblem | undefined {
    const message = this.#open.get(messageId);
    if (message === undefined) return lie(`message ${messageId} goes on, and has not begun`);
    const { receivedBytes, length } = message;
    if (offset !== receivedBytes) return lie(`message ${messageId} goes on at ${offset}, and not at ${receivedBytes}`);
    if (offset + payload.length > length)
      return lie(`message ${messageId} is longer than the ${length} bytes that it was to have`);
    if (offset + payload.length === length) this.#open.delete(messageId);
    this.matching.continue(message, payload);
    return undefined;
  }

  announced(tag: Tag, length: number, source: MessageSource): TagMessage | PeerProblem {
    const message = new TagMessage(tag, length, undefined, source);
    return this.matching.begin(message) ? message : this.#tooMuch(message);
  }

  /** A message that was announced, and for which no receive was found, will not come. */
  withdraw(message: TagMessage, status: UcsStatus): void {
    this.matching.abandon(message, status);
  }

  /** Nothing comes any more: messages that have come in part never will. */
  end(status: UcsStatus): void {
    for (const message of this.#open.values()) this.matching.abandon(message, status);
    this.#open.clear();
  }

  #tooMuch({ length }: TagMessage): PeerProblem {
    const { keptBytes, limitBytes } = this.matching;
    const text = `nobody has asked for a message of ${length} bytes, and ${keptBytes} of ${limitBytes} bytes for such are in use`;
    return { status: UcsStatus.UCS_ERR_EXCEEDS_LIMIT, text };
  }
}
