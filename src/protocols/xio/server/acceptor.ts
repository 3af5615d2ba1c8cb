import type { Link } from '../transport/index.js';
import { decodeHead, decodeSetupRequest, emptyHead, headerOf, Kind, type SetupRequest } from '../wire/index.js';
import { LinkEnd, type LinkUser } from '../session/link-end.js';

/** How long a client may take to send its SESSION. */
const PATIENCE_MS = 10_000;
/** Clients that may be pending at a time. */
const MOST = 1024;

export interface AcceptedClient {
  readonly end: LinkEnd;
  readonly request: SetupRequest;
  readonly received: number;
}

/** Holds new links until their SESSION arrives. A link that sends something else, or nothing in time, is closed. */
export class Acceptor {
  readonly #waiting = new Set<PendingClient>();

  constructor(private readonly onGreeted: (greeted: AcceptedClient) => void) {}

  add(link: Link): void {
    const guest = this.#guest(link);
    const end = new LinkEnd(guest, link);
    guest.begin(end);
    link.open(end);
  }

  /** Whoever has that link was told that its session is not known, and says once more what it wants. */
  again(end: LinkEnd): void {
    const guest = this.#guest(end.link);
    end.user = guest;
    guest.begin(end);
  }

  #guest(link: Link): PendingClient {
    const [oldest] = this.#waiting;
    if (this.#waiting.size >= MOST) oldest.leave();
    const guest: PendingClient = new PendingClient(link, this.onGreeted, () => this.#waiting.delete(guest));
    this.#waiting.add(guest);
    return guest;
  }

  end(): void {
    for (const guest of this.#waiting) guest.leave();
  }
}

class PendingClient implements LinkUser {
  readonly #head = emptyHead(Kind.NOP);
  #end: LinkEnd | undefined;
  #stopTimer: (() => void) | undefined;

  constructor(
    readonly link: Link,
    private readonly onGreeted: (greeted: AcceptedClient) => void,
    private readonly onGone: () => void,
  ) {}

  begin(end: LinkEnd): void {
    this.#end = end;
    this.#stopTimer = this.link.clock.chore(PATIENCE_MS, () => this.leave());
  }

  leave(): void {
    this.onLinkEnd();
    this.link.abort();
  }

  landing(): undefined {
    this.leave();
    return undefined;
  }

  onFrame(headBytes: Uint8Array): void {
    const head = this.#head;
    const lie = decodeHead(headBytes, head);
    const request = lie ?? (head.kind === Kind.SESSION ? decodeSetupRequest(headerOf(headBytes)) : 'no SESSION');
    if (typeof request === 'string') {
      this.leave();
      return;
    }
    this.onLinkEnd();
    if (this.#end !== undefined) this.onGreeted({ end: this.#end, request, received: head.ackSn });
  }

  pump(): void {
    // It has nothing to say.
  }

  onLinkEnd(): void {
    this.#stopTimer?.();
    this.onGone();
  }
}
