import { Item } from '../../protocol/index.js';
import { Flag, Kind, XioStatus } from '../../wire/index.js';
import type { Clock } from './clock.js';
import { bodyOf, type Ledger } from './ledger.js';
import type { Speaker } from './speaker.js';

export function headerOfId(id: number): Uint8Array {
  return Uint8Array.of(id >>> 8, id & 0xff);
}

export function idIn(header: Uint8Array): number {
  return (header[0] << 8) | header[1];
}

export interface CallFields {
  readonly kind: 'request' | 'message';
  readonly bytes: number;
  readonly deadlineUs: number;
  readonly isIdempotent: boolean;
  readonly receipt: boolean;
  readonly isApart: boolean;
}

/** An end's own requests and messages, and what it is told of them. */
export class Caller {
  readonly #ids = new Map<Item, number>();

  constructor(
    private readonly ledger: Ledger,
    private readonly clock: Clock,
    private readonly speaker: () => Speaker,
  ) {}

  call({ kind, bytes, deadlineUs, isIdempotent, receipt, isApart }: CallFields): void {
    const id = this.ledger.begin(bytes, isIdempotent);
    const flags = receipt ? Flag.RECEIPT : Flag.ACKNOWLEDGE;
    const fields = { header: headerOfId(id), body: bodyOf(id, bytes, 0), isIdempotent, isApart };
    const isRequest = kind === 'request';
    const item = isRequest
      ? new Item(Kind.REQUEST, { ...fields, maxResponseBytes: bytes, flags: isApart ? Flag.APART_RESPONSE : 0 })
      : new Item(Kind.ONE_WAY, { ...fields, flags });
    this.#ids.set(item, id);
    const { channel } = this.speaker();
    channel.call(item);
    this.speaker().pump();
    if (deadlineUs !== Infinity) this.clock.after(deadlineUs, () => this.#giveUp(item, id));
  }

  /** A session is over before it could be asked. */
  refuse(): void {
    this.ledger.failed(this.ledger.begin(0, false), XioStatus.XIO_E_SESSION_CLOSED, false);
  }

  answered(item: Item, body: Uint8Array): void {
    const id = this.#take(item);
    if (id !== undefined) this.ledger.answered(id, body);
  }

  received(item: Item): void {
    const id = this.#take(item);
    if (id !== undefined) this.ledger.received(id);
  }

  acknowledged(item: Item): void {
    if (item.kind === Kind.ONE_WAY && (item.flags & Flag.RECEIPT) === 0) this.received(item);
  }

  failed(item: Item, status: XioStatus): void {
    const id = this.#take(item);
    if (id !== undefined) this.ledger.failed(id, status, item.mayHaveRun);
  }

  #giveUp(item: Item, id: number): void {
    if (this.#take(item) === undefined) return;
    this.ledger.givenUp(id, this.speaker().channel.giveUp(item));
    this.speaker().pump();
  }

  #take(item: Item): number | undefined {
    const id = this.#ids.get(item);
    this.#ids.delete(item);
    return id;
  }
}
