import type { Held, Link, LinkReceiver } from '../../transport/index.js';
import { type Body, gather, lengthOf } from '../../wire/index.js';

export interface Got {
  readonly head: Uint8Array;
  /** A copy of it, made at once. */
  readonly body: Uint8Array;
  readonly given: Body;
  readonly isLanded: boolean;
  readonly writtenBytes: number;
}

/** An end of a link that notes down what it is told, and looks whether that can be. */
export class LinkEnd implements LinkReceiver {
  readonly got: Got[] = [];
  /** Bodies that were on their way, by their lengths. */
  readonly announced: number[] = [];
  readonly ends: (Error | undefined)[] = [];
  rooms = 0;
  onLanding: ((head: Uint8Array, bodyBytes: number) => Body | undefined) | undefined;
  onGot: ((got: Got) => void) | undefined;
  readonly wrongs: string[] = [];
  #isCalling = false;

  constructor(readonly link: Link) {}

  /** The only message. */
  get only(): Got {
    if (this.got.length !== 1) throw new Error(`there are ${this.got.length} messages`);
    return this.got[0];
  }

  /** Makes a call of the link, in which nothing may be told. */
  call<T>(action: (link: Link) => T): T {
    this.#isCalling = true;
    try {
      return action(this.link);
    } finally {
      this.#isCalling = false;
    }
  }

  /** Sends once there is room. */
  async send(
    until: (isSo: () => boolean) => Promise<void>,
    head: Uint8Array,
    body: Body,
    target?: Uint8Array,
    isApart?: boolean,
  ): Promise<Held | undefined> {
    await until(() => this.link.canSend);
    return this.call((link) => link.send(head, body, target, isApart));
  }

  /** Sends several messages, each once there is room. */
  async sendAll(
    until: (isSo: () => boolean) => Promise<void>,
    messages: readonly (readonly [Uint8Array, Body])[],
  ): Promise<void> {
    for (const [head, body] of messages) await this.send(until, head, body);
  }

  landing(head: Uint8Array, bodyBytes: number): Body | undefined {
    this.#note('landing');
    this.announced.push(bodyBytes);
    return this.onLanding?.(head, bodyBytes);
  }

  onMessage(head: Uint8Array, body: Body, isLanded: boolean, writtenBytes: number): void {
    this.#note('onMessage');
    // What was transferred has no bytes, and cannot be copied.
    const copy = lengthOf(body) === 0 ? new Uint8Array(0) : gather(body);
    const got = { head: Uint8Array.from(head), body: copy, given: body, isLanded, writtenBytes };
    this.got.push(got);
    this.onGot?.(got);
  }

  onRoom(): void {
    this.#note('onRoom');
    if (!this.link.canSend) this.wrongs.push('there is room, and there is none');
    this.rooms += 1;
  }

  onEnd(failure: Error | undefined): void {
    if (this.#isCalling) this.wrongs.push('onEnd from within a call');
    if (this.ends.length > 0) this.wrongs.push('onEnd twice');
    this.ends.push(failure);
  }

  #note(what: string): void {
    if (this.ends.length > 0) this.wrongs.push(`${what} after the end`);
  }
}
