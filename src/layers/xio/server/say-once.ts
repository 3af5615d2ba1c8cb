import type { Link } from '../transport/index.js';
import { emptyHead, encodeHead, HEAD_BYTES, Kind } from '../wire/index.js';
import type { LinkEnd, LinkUser } from '../session/link-end.js';

/** Says one thing on a link that belongs to no session. */
export function sayOnce(end: LinkEnd, answer: Uint8Array, then: () => void): void {
  const speaker = new Speaker(end.link, answer, then);
  end.user = speaker;
  speaker.pump();
}

class Speaker implements LinkUser {
  #hasSpoken = false;

  constructor(
    readonly link: Link,
    private readonly answer: Uint8Array,
    private readonly then: () => void,
  ) {}

  landing(): undefined {
    this.link.abort();
    return undefined;
  }

  onFrame(): void {
    this.link.abort();
  }

  pump(): void {
    if (this.#hasSpoken || !this.link.canSend) return;
    this.#hasSpoken = true;
    const bytes = new Uint8Array(HEAD_BYTES + this.answer.length);
    encodeHead(bytes, emptyHead(Kind.SESSION_ANSWER), this.answer, undefined);
    this.link.send(bytes, new Uint8Array(0), undefined);
    this.then();
  }

  onLinkEnd(): void {
    // There is nobody to tell.
  }
}
