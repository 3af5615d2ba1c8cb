import type { PeerProblem } from '../protocol/index.js';
import type { MessageOf } from '../wire/index.js';
import { lie } from '../worker/errors.js';
import { type KeptBytes, MESSAGE_COST } from '../worker/kept-bytes.js';

/** What is known of a message of a program before its data. */
export interface AmHead {
  readonly amId: number;
  readonly canReply: boolean;
}

export interface AmWhole extends AmHead {
  readonly header: Uint8Array;
  readonly data: Uint8Array;
  readonly cost: number;
}

interface Open extends AmHead {
  readonly header: Uint8Array;
  /** As long as it will be; undefined for one that nobody will take. */
  readonly data: Uint8Array | undefined;
  readonly total: number;
  receivedBytes: number;
  readonly cost: number;
}

const NOTHING = new Uint8Array(0);

/** Messages of one peer that come in parts. */
export class AmAssembly {
  readonly #open = new Map<number, Open>();

  constructor(private readonly kept: KeptBytes) {}

  /** Whether more is to come of any. */
  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /** The first part of a message has come. @param isWanted whether anybody will take it */
  first(
    { payload, userHeader, foot: { total, messageId } }: MessageOf<'AM_FIRST'>,
    head: AmHead,
    isWanted: boolean,
  ): PeerProblem | undefined {
    if (this.#open.has(messageId)) return lie(`message ${messageId} begins twice`);
    const cost = MESSAGE_COST + (isWanted ? userHeader.length + total : 0);
    const problem = this.kept.take(cost);
    if (problem !== undefined) return problem;
    const data = isWanted ? new Uint8Array(total) : undefined;
    const header = isWanted ? userHeader.slice() : NOTHING;
    data?.set(payload);
    this.#open.set(messageId, { ...head, header, data, total, receivedBytes: payload.length, cost });
    return undefined;
  }

  /** The next part of one has come. @returns the message, when that was the last and somebody wants it; what is wrong; undefined to go on */
  middle({
    head: { offset },
    payload,
    foot: { messageId },
  }: MessageOf<'AM_MIDDLE'>): AmWhole | PeerProblem | undefined {
    const open = this.#open.get(messageId);
    if (open === undefined) return lie(`message ${messageId} goes on, and has not begun`);
    const { receivedBytes, total, data, cost, header, amId, canReply } = open;
    if (offset !== receivedBytes) return lie(`message ${messageId} goes on at ${offset}, and not at ${receivedBytes}`);
    const end = offset + payload.length;
    if (end > total) return lie(`message ${messageId} is longer than the ${total} bytes that it was to have`);
    data?.set(payload, offset);
    open.receivedBytes = end;
    if (end < total) return undefined;
    this.#open.delete(messageId);
    if (data !== undefined) return { amId, canReply, header, data, cost };
    this.kept.give(cost);
    return undefined;
  }

  /** Nothing comes any more. */
  end(): void {
    for (const { cost } of this.#open.values()) this.kept.give(cost);
    this.#open.clear();
  }
}
