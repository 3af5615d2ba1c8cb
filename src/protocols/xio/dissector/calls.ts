import {
  amount,
  type CapturedExchange,
  type CaptureWay,
  FollowedExchange,
  MAX_EXCHANGES,
  remember,
} from '../../core/index.js';
import type { DirectRequest } from '../wire/index.js';

export class Call extends FollowedExchange {
  /** @param direct what it asks of the session itself, about memory that is granted */
  constructor(
    way: CaptureWay,
    what: string,
    readonly direct: DirectRequest | undefined,
  ) {
    super(way, what);
  }
}

/** Follows requests, messages with a receipt, and the beginnings of sessions, each until it is answered, on whichever link. */
export class CallFollower {
  readonly exchanges: CapturedExchange[] = [];
  readonly #open = new Map<string, Call>();

  /**
   * One is sent, for the first time or again.
   *
   * @param speaker whose it is
   * @param name tells it from all others of the speaker's
   */
  begin(way: CaptureWay, speaker: string, name: string, what: string, direct?: DirectRequest): Call {
    const key = `${speaker} ${name}`;
    const known = this.#open.get(key);
    if (known !== undefined) {
      if (known.psn !== way.psn || known.to !== way.to) known.step('sent again');
      return known;
    }
    const call = new Call(way, what, direct);
    remember(this.#open, key, call);
    if (this.exchanges.length < MAX_EXCHANGES) this.exchanges.push(call);
    return call;
  }

  /** One that was seen, and is not forgotten. */
  find(speaker: string, name: string): Call | undefined {
    return this.#open.get(`${speaker} ${name}`);
  }
}

/** `RESPONSE 20 B`, or why there is none. */
export function answerText(bodyBytes: number, failure: string): string {
  return failure === '' ? `RESPONSE ${amount(bodyBytes)}` : `RESPONSE${failure}`;
}
