import { type CaptureWay, remember } from '../../core/index.js';
import type { SetupRequest } from '../wire/index.js';
import { idText } from './words.js';

/** Which connection of which session a link carries, so that what is sent again on the next link is known for what it is. */
export class LaneFollower {
  /** By the ends of a link, the one that speaks first: who that is. */
  readonly #speakers = new Map<string, string>();

  /** A client says which connection a link is for. */
  begin({ from, to }: CaptureWay, { sessionId, connection }: Pick<SetupRequest, 'sessionId' | 'connection'>): void {
    const lane = `${idText(sessionId)} ${connection}`;
    remember(this.#speakers, `${from} > ${to}`, `${lane} client`);
    remember(this.#speakers, `${to} > ${from}`, `${lane} server`);
  }

  /** Whose messages go that way: the same on all links of a connection. */
  speakerOf({ from, to }: Pick<CaptureWay, 'from' | 'to'>): string {
    const way = `${from} > ${to}`;
    return this.#speakers.get(way) ?? way;
  }

  /** Whose messages go the other way. */
  listenerOf({ from, to }: CaptureWay): string {
    return this.speakerOf({ from: to, to: from });
  }
}
