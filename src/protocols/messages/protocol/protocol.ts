import { IncomingSide } from './incoming.js';
import { type Kind, limitOf } from './kinds.js';
import type { Hello } from './hello.js';
import { type Outgoing, OutgoingSide } from './outgoing.js';

/**
 * The protocol at one end of a connection, as a machine that only counts: told what comes and what is to be sent, it says what
 * to send, what to take and what to refuse. It knows neither queue pairs nor memory nor time.
 */
export class Protocol<M extends Outgoing> {
  readonly incoming: IncomingSide;
  readonly outgoing: OutgoingSide<M>;

  constructor(own: Hello) {
    this.incoming = new IncomingSide(own);
    this.outgoing = new OutgoingSide(this.incoming.credits);
  }

  /** The peer has said what it takes. Nothing is sent, and nothing may be looked at that came, before. */
  begin(peer: Hello): void {
    this.outgoing.begin(peer);
  }

  /**
   * A message has come.
   *
   * @returns its kind, or undefined when the peer has lied: {@link IncomingSide.lie} says in what
   */
  onMessage(immediate: number, byteLength: number): Kind | undefined {
    const kind = this.incoming.onMessage(immediate, byteLength);
    if (kind === undefined) return undefined;
    const lie = this.outgoing.onLimit(limitOf(immediate));
    if (lie === undefined) return kind;
    this.incoming.distrust(lie);
    return undefined;
  }
}
