import { UcsStatus } from '../../wire/index.js';

export interface ModelMessage {
  readonly number: number;
  readonly peer: number;
  readonly tag: bigint;
  readonly length: number;
  got: number;
  receive: ModelReceive | undefined;
  /** Nobody can get it any more: it was received, truncated, canceled, or will not come. */
  isGone: boolean;
  isTaken: boolean;
  failure: UcsStatus | undefined;
}

export interface ModelReceive {
  readonly tag: bigint;
  readonly mask: bigint;
  readonly length: number;
  message: ModelMessage | undefined;
  readonly ends: [UcsStatus, bigint | undefined, number | undefined][];
}

type Wanted = Pick<ModelReceive, 'tag' | 'mask'>;

/** Tag matching as one would write it down: a list of receives, a list of messages, and everything is searched from the beginning. */
export class TagModel {
  readonly messages: ModelMessage[] = [];
  readonly receives: ModelReceive[] = [];

  constructor(
    private readonly limit: number,
    private readonly cost: number,
  ) {}

  get keptBytes(): number {
    return this.messages
      .filter((message) => !message.isGone && message.receive === undefined)
      .reduce((sum, { length }) => sum + this.cost + length, 0);
  }

  openOf(peer: number): ModelMessage | undefined {
    return this.messages.find((message) => message.peer === peer && message.got < message.length && !message.failure);
  }

  post(wanted: Pick<ModelReceive, 'tag' | 'mask' | 'length'>): void {
    const message = this.take(wanted);
    if (message === undefined) this.#add(wanted);
    else this.receive(message, wanted);
  }

  begin(peer: number, tag: bigint, length: number, got: number): boolean {
    const number = this.messages.length;
    const message: ModelMessage = {
      number,
      peer,
      tag,
      length,
      got,
      receive: undefined,
      isGone: false,
      isTaken: false,
      failure: undefined,
    };
    const receive = this.receives.find(
      (one) => one.ends.length === 0 && one.message === undefined && ((one.tag ^ tag) & one.mask) === 0n,
    );
    if (receive === undefined && this.keptBytes + this.cost + length > this.limit) return false;
    this.messages.push(message);
    if (receive !== undefined) this.#match(message, receive);
    return true;
  }

  proceed(message: ModelMessage, bytes: number): void {
    message.got += bytes;
    this.#endIfComplete(message);
  }

  cancel(which: number): boolean {
    const receive = this.receives[which];
    if (receive.ends.length > 0) return false;
    this.#end(receive, UcsStatus.UCS_ERR_CANCELED);
    return true;
  }

  probe(wanted: Wanted): [bigint, number] | undefined {
    const message = this.#find(wanted);
    return message && [message.tag, message.length];
  }

  take(wanted: Wanted): ModelMessage | undefined {
    const message = this.#find(wanted);
    if (message !== undefined) message.isTaken = true;
    return message;
  }

  receive(message: ModelMessage, wanted: Pick<ModelReceive, 'tag' | 'mask' | 'length'>): void {
    this.#match(message, this.#add(wanted));
  }

  end(peer: number): void {
    for (const message of this.messages) {
      if (message.peer !== peer || message.got === message.length || message.failure !== undefined) continue;
      message.failure = UcsStatus.UCS_ERR_CONNECTION_RESET;
      if (message.receive !== undefined) this.#end(message.receive, message.failure);
      message.isGone = true;
    }
  }

  #find({ tag, mask }: Wanted): ModelMessage | undefined {
    return this.messages.find(
      (message) =>
        !message.isGone && !message.isTaken && message.receive === undefined && ((message.tag ^ tag) & mask) === 0n,
    );
  }

  #add({ tag, mask, length }: Pick<ModelReceive, 'tag' | 'mask' | 'length'>): ModelReceive {
    const receive: ModelReceive = { tag, mask, length, message: undefined, ends: [] };
    this.receives.push(receive);
    return receive;
  }

  #match(message: ModelMessage, receive: ModelReceive): void {
    receive.message = message;
    if (message.length > receive.length) {
      this.#end(receive, UcsStatus.UCS_ERR_MESSAGE_TRUNCATED);
      message.isGone = true;
      return;
    }
    message.receive = receive;
    this.#endIfComplete(message);
  }

  #endIfComplete(message: ModelMessage): void {
    if (message.got === message.length && message.receive !== undefined) this.#end(message.receive, UcsStatus.UCS_OK);
  }

  #end(receive: ModelReceive, status: UcsStatus): void {
    const { message } = receive;
    receive.ends.push([status, message?.tag, message?.length]);
    if (message === undefined) return;
    message.receive = undefined;
    message.isGone = true;
  }
}
