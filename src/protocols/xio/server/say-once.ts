import type { Link } from '../transport/index.js';
import { emptyHead, encodeHead, HEAD_BYTES, Kind } from '../wire/index.js';
import type { LinkEnd, LinkUser } from '../session/link-end.js';

/** How long a client that gives no room is kept. */
const PATIENCE_MS = 10_000;

interface Saying {
  readonly answer: Uint8Array;
  readonly received: number;
}

/** Says one thing on a link that belongs to no session. A client that does not let it be said is gone after a while. */
export function sayOnce(end: LinkEnd, answer: Uint8Array, then: () => void, received = 0): void {
  const speaker = new Speaker(end.link, { answer, received }, then);
  end.user = speaker;
  speaker.pump();
}

class Speaker implements LinkUser {
  #hasSpoken = false;
  readonly #stopTimer: () => void;

  constructor(
    readonly link: Link,
    private readonly saying: Saying,
    private readonly then: () => void,
  ) {
    this.#stopTimer = link.clock.chore(PATIENCE_MS, () => link.abort());
  }

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
    this.#stopTimer();
    const { answer, received } = this.saying;
    const bytes = new Uint8Array(HEAD_BYTES + answer.length);
    encodeHead(bytes, { ...emptyHead(Kind.SESSION_ANSWER), ackSn: received }, answer, undefined);
    this.link.send(bytes, new Uint8Array(0), undefined);
    this.then();
  }

  onLinkEnd(): void {
    this.#stopTimer();
  }
}
