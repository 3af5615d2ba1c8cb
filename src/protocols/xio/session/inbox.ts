import { Waiters } from '../../../api/runtime/index.js';
import type { XioError } from '../transport/index.js';
import { gather, isOnePiece, lengthOf, piecesOf } from '../wire/index.js';
import type { XioMessage } from '../api.js';
import type { Arrived, SessionConnection } from './session-connection.js';

/** A message of the peer's. */
class Message implements XioMessage {
  readonly header: Uint8Array;
  #isHeld = true;

  constructor(
    private readonly lane: SessionConnection,
    private readonly arrived: Arrived,
    private readonly onReleased: () => void,
  ) {
    this.header = arrived.header;
  }

  get body(): Uint8Array {
    const { body } = this.arrived;
    return isOnePiece(body) ? body : gather(body);
  }

  get pieces(): readonly Uint8Array[] {
    return piecesOf(this.arrived.body);
  }

  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.onReleased();
    // Another life of the session counts from 1 again: its messages are others.
    if (this.lane.channel.life !== this.arrived.life) return;
    this.lane.channel.release(this.arrived.sn);
    this.lane.pump();
  }

  [Symbol.dispose](): void {
    this.release();
  }
}

/** What a connection has brought, and the program has not let go of. */
interface Holding {
  messages: number;
  bytes: number;
}

/** The peer's messages that the program has not taken. */
export class Inbox {
  readonly #ready: Message[] = [];
  readonly #held = new Map<SessionConnection, Holding>();
  readonly #waiters: Waiters<XioMessage>;
  #taker: ((message: XioMessage) => void) | undefined;
  #end: { readonly failure: XioError | undefined } | undefined;

  constructor() {
    this.#waiters = new Waiters<XioMessage>({ take: () => this.#take(), listen: () => {}, rest: () => {} });
  }

  /** @param onReleased the program has let go of it */
  add(lane: SessionConnection, arrived: Arrived, onReleased: () => void): void {
    const held = this.#holdingOf(lane);
    const length = lengthOf(arrived.body);
    held.messages += 1;
    held.bytes += length;
    const message = new Message(lane, arrived, () => {
      held.messages -= 1;
      held.bytes -= length;
      onReleased();
    });
    if (this.#taker !== undefined) {
      this.#taker(message);
      return;
    }
    this.#ready.push(message);
    this.#waiters.serve();
  }

  /** What of a connection's messages the program has not let go of, from whichever server they came. */
  heldOf(lane: SessionConnection): Readonly<Holding> {
    return this.#holdingOf(lane);
  }

  /** Each message is given to somebody as it comes, and held until it is let go of. */
  giveTo(taker: (message: XioMessage) => void): void {
    this.#taker = taker;
    for (const message of this.#ready.splice(0)) taker(message);
  }

  /** No more come. */
  end(failure: XioError | undefined): void {
    this.#end ??= { failure };
    this.#waiters.serve();
  }

  /** Until they end, or the loop is left. */
  async *messages(): AsyncGenerator<XioMessage, void, undefined> {
    for await (const message of this.#waiters.iterate()) {
      try {
        yield message;
      } finally {
        message.release();
      }
    }
  }

  #holdingOf(lane: SessionConnection): Holding {
    let held = this.#held.get(lane);
    if (held === undefined) this.#held.set(lane, (held = { messages: 0, bytes: 0 }));
    return held;
  }

  #take(): Message | undefined {
    const message = this.#ready.shift();
    if (message !== undefined || this.#end === undefined) return message;
    if (this.#end.failure !== undefined) throw this.#end.failure;
    this.#waiters.close();
    return undefined;
  }
}
