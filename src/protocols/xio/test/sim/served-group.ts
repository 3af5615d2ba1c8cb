import { encodeMove, XioStatus } from '../../wire/index.js';
import { finishWhenIdle } from './direct.js';
import type { ServedEnd } from './served-end.js';
import type { LinkEnd } from './wire-link.js';
import type { World } from './world.js';

/** A server's end of a session: of those of its connections that have come there. */
export class ServedGroup {
  readonly #ends: ServedEnd[] = [];
  #isClosing = false;
  #isOver = false;
  #move: Uint8Array | undefined;

  constructor(private readonly world: World) {}

  get isMoved(): boolean {
    return this.#move !== undefined;
  }

  join(end: ServedEnd, link: LinkEnd): void {
    this.#ends.push(end);
    end.begin(link);
    if (this.#move !== undefined) end.speaker.channel.move(this.#move);
    if (this.#isClosing) this.finishAll();
    end.speaker.pump();
  }

  /** Sends the client on, who has its answers here all the same. */
  move(to: number): void {
    if (this.isMoved || this.#isClosing) return;
    this.#move = encodeMove([String(to)]);
    for (const { speaker } of this.#ends) speaker.channel.move(this.#move);
    this.finishAll();
    for (const { speaker } of this.#ends.slice()) speaker.pump();
  }

  finishAll(): void {
    this.#isClosing = true;
    finishWhenIdle(this.#ends);
  }

  endIfDone(): void {
    const isDone = this.#ends.every(
      ({ speaker: { channel } }) => channel.isDone || (channel.isParting && !channel.isAttached),
    );
    if (isDone) this.#over(XioStatus.XIO_E_SUCCESS);
  }

  /** One of its connections has not come back. */
  lose(): void {
    this.world.ledger.mayForget = true;
    this.#over(XioStatus.XIO_E_SESSION_DISCONNECTED);
  }

  #over(status: XioStatus): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const end of this.#ends) end.end(status);
  }
}
