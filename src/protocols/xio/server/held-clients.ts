import { PeerProbes } from '../../core/index.js';
import type { LinkUser } from '../session/link-end.js';
import type { Link } from '../transport/index.js';
import { decodeHead, emptyHead, encodeHead, HEAD_BYTES, Kind } from '../wire/index.js';
import type { AcceptedClient } from './acceptor.js';

/** Clients that wait for room in the backlog, in the order in which they came. */
export class HeldClients {
  readonly #held: HeldClient[] = [];

  constructor(
    /** How long a client may wait. */
    private readonly waitMs: number,
    /** A client has waited for so long. */
    private readonly onLate: (greeted: AcceptedClient) => void,
  ) {}

  get size(): number {
    return this.#held.length;
  }

  hold(greeted: AcceptedClient): void {
    const forget = (): void => {
      const index = this.#held.indexOf(held);
      if (index >= 0) this.#held.splice(index, 1);
    };
    const held: HeldClient = new HeldClient(greeted, this.waitMs, forget, this.onLate);
    this.#held.push(held);
  }

  /** The client that has waited longest, which waits no longer. */
  take(): AcceptedClient | undefined {
    const first = this.#held.shift();
    first?.end();
    return first?.greeted;
  }
}

/** A client that has asked for a session, and has no answer. Meanwhile it may only ask whether the server is there. */
class HeldClient implements LinkUser {
  readonly #head = emptyHead(Kind.NOP);
  readonly #probes: PeerProbes;
  readonly #stopTimer: (() => void) | undefined;

  constructor(
    readonly greeted: AcceptedClient,
    waitMs: number,
    private readonly onGone: () => void,
    onLate: (greeted: AcceptedClient) => void,
  ) {
    const { link } = greeted.end;
    greeted.end.user = this;
    // A client that vanishes is to leave its place to others.
    this.#probes = new PeerProbes(link.clock, { awaitsPeer: true, probe: () => link.probe() });
    this.#probes.start();
    if (waitMs === Infinity) return;
    this.#stopTimer = link.clock.chore(waitMs, () => {
      this.#leave();
      onLate(greeted);
    });
  }

  get link(): Link {
    return this.greeted.end.link;
  }

  end(): void {
    this.#stopTimer?.();
    this.#probes.end();
  }

  landing(): undefined {
    this.#abort();
    return undefined;
  }

  onFrame(headBytes: Uint8Array): void {
    if (decodeHead(headBytes, this.#head) !== undefined || this.#head.kind !== Kind.KEEP_ALIVE) this.#abort();
    else if (this.link.canSend) {
      const bytes = new Uint8Array(HEAD_BYTES);
      encodeHead(bytes, emptyHead(Kind.ALIVE), new Uint8Array(0), undefined);
      this.link.send(bytes, new Uint8Array(0), undefined);
    }
  }

  pump(): void {
    // It has nothing to say.
  }

  onLinkEnd(): void {
    this.#leave();
  }

  #abort(): void {
    this.#leave();
    this.link.abort();
  }

  #leave(): void {
    this.end();
    this.onGone();
  }
}
