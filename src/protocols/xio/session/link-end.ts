import type { Link, LinkReceiver } from '../transport/index.js';
import type { Body } from '../wire/index.js';

/** Whoever uses links, one after the other. */
export interface LinkUser {
  readonly link: Link | undefined;
  landing(head: Uint8Array, bodyBytes: number): Body | undefined;
  onFrame(head: Uint8Array, body: Body, isLanded: boolean, writtenBytes: number): void;
  pump(): void;
  onLinkEnd(failure: Error | undefined): void;
}

/** What a link delivers, as long as it is the one in use: of others nothing counts any more. */
export class LinkEnd implements LinkReceiver {
  constructor(
    public user: LinkUser,
    readonly link: Link,
  ) {}

  landing(head: Uint8Array, bodyBytes: number): Body | undefined {
    return this.#isInUse ? this.user.landing(head, bodyBytes) : undefined;
  }

  onMessage(head: Uint8Array, body: Body, isLanded: boolean, writtenBytes: number): void {
    if (this.#isInUse) this.user.onFrame(head, body, isLanded, writtenBytes);
  }

  onRoom(): void {
    if (this.#isInUse) this.user.pump();
  }

  onEnd(failure: Error | undefined): void {
    if (this.#isInUse) this.user.onLinkEnd(failure);
  }

  get #isInUse(): boolean {
    return this.user.link === this.link;
  }
}
