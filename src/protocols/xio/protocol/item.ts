import { type Body, type Head, Kind, lengthOf, XioStatus } from '../wire/index.js';

const NOTHING = new Uint8Array(0);

/** What is said of an {@link Item} beside its kind. */
export interface ItemFields {
  readonly header?: Uint8Array | undefined;
  readonly body?: Body | undefined;
  readonly about?: number | undefined;
  readonly status?: XioStatus | undefined;
  readonly flags?: number | undefined;
  readonly maxResponseBytes?: number | undefined;
  /** Whether the body does not go along with its head, however short it is. */
  readonly isApart?: boolean | undefined;
  /** Whether a server that has begun anew may execute it. */
  readonly isIdempotent?: boolean | undefined;
}

/** Something on its way to the peer that has a number in the order of its connection: kept until the peer has it. */
export class Item {
  /** Becomes VOID when it was given up before the peer had it. */
  kind: Kind;
  header: Uint8Array;
  body: Body;
  readonly about: number;
  status: XioStatus;
  readonly flags: number;
  readonly maxResponseBytes: number;
  readonly isApart: boolean;
  readonly isIdempotent: boolean;
  /** 0 before it was sent for the first time. */
  sn = 0;
  isGivenUp = false;
  /** A server that has begun anew since may have seen it. */
  isRetried = false;
  /** Bytes of its body when it was begun. */
  readonly bodyBytes: number;

  constructor(kind: Kind, fields: ItemFields = {}) {
    this.kind = kind;
    this.header = fields.header ?? NOTHING;
    this.body = fields.body ?? NOTHING;
    this.bodyBytes = lengthOf(this.body);
    this.about = fields.about ?? 0;
    this.status = fields.status ?? XioStatus.XIO_E_SUCCESS;
    this.flags = fields.flags ?? 0;
    this.maxResponseBytes = fields.maxResponseBytes ?? 0;
    this.isApart = fields.isApart ?? false;
    this.isIdempotent = fields.isIdempotent ?? false;
  }

  /** Whether the peer may have seen it. */
  get mayHaveRun(): boolean {
    return this.sn > 0 || this.isRetried;
  }

  /** Gives it up where its body is not there any more, since the program has transferred the memory, say. A response says so. @returns whether that is so */
  loseBody(): boolean {
    if (this.isGivenUp || this.status !== XioStatus.XIO_E_SUCCESS || lengthOf(this.body) === this.bodyBytes)
      return false;
    if (this.kind === Kind.RESPONSE) this.spoil(XioStatus.XIO_E_NO_USER_BUFS);
    else this.giveUp();
    return true;
  }

  /** Of a response: what it was to bring is not there any more. Where it was not sent, it says that. */
  spoil(status: XioStatus): void {
    this.status = status;
    this.body = NOTHING;
  }

  /** Nobody wants it any more: its memory is the program's again. */
  giveUp(): void {
    this.isGivenUp = true;
    this.header = NOTHING;
    this.body = NOTHING;
  }
}

/** Says in a head what an item is. @param item undefined for a NOP */
export function fillHead(head: Head, item: Item | undefined): void {
  const isVoid = item === undefined || item.kind === Kind.VOID;
  head.kind = item?.kind ?? Kind.NOP;
  head.sn = item?.sn ?? 0;
  head.about = isVoid ? 0 : item.about;
  head.status = item?.status ?? XioStatus.XIO_E_SUCCESS;
  head.bodyBytes = item === undefined ? 0 : lengthOf(item.body);
  head.maxResponseBytes = item?.maxResponseBytes ?? 0;
  head.flags = isVoid ? 0 : item.flags;
}
