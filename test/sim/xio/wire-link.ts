import type { SeededRandom } from '../../../src/device/link/index.js';
import type { Clock } from './clock.js';

/** An end of a link, and whoever has it. */
export interface LinkUser {
  /** A body begins to come. */
  onAnnounced(head: Uint8Array): void;
  onFrame(head: Uint8Array, body: Uint8Array, wasAnnounced: boolean): void;
  onRoom(): void;
  onLost(): void;
}

interface Frame {
  readonly head: Uint8Array;
  readonly body: Uint8Array;
}

/** How links behave. */
export interface LinkManners {
  readonly delayUs: number;
  readonly room: number;
  /** Bodies of more bytes come apart from their heads. */
  readonly inlineBytes: number;
}

/** One end of a link: frames in their order, until it is cut. */
export class LinkEnd {
  user: LinkUser | undefined;
  peer: LinkEnd | undefined;
  #underWay = 0;
  #isCut = false;
  #lastUs = 0;

  constructor(
    private readonly clock: Clock,
    private readonly random: SeededRandom,
    private readonly manners: LinkManners,
  ) {}

  get canSend(): boolean {
    return !this.#isCut && this.#underWay < this.manners.room;
  }

  send(head: Uint8Array, body: Uint8Array): void {
    if (this.#isCut) return;
    const { delayUs, inlineBytes } = this.manners;
    const frame = { head: head.slice(), body: body.slice() };
    const isApart = body.length > inlineBytes;
    this.#underWay += 1;
    const arrivesUs = Math.max(this.#lastUs, this.clock.nowUs + this.random.between(1, delayUs));
    const endsUs = arrivesUs + (isApart ? this.random.between(1, delayUs) : 0);
    this.#lastUs = endsUs;
    if (isApart) this.clock.after(arrivesUs - this.clock.nowUs, () => this.#announce(frame));
    this.clock.after(endsUs - this.clock.nowUs, () => this.#arrive(frame, isApart));
  }

  /** Nothing comes any more, on either side; each hears of it in its time. */
  cut(): void {
    for (const end of [this, this.peer]) {
      if (end === undefined || end.#isCut) continue;
      end.#isCut = true;
      this.clock.after(this.random.between(1, 3 * this.manners.delayUs), () => end.#tellLost());
    }
  }

  /** Its owner has done with it: the peer hears that it is gone once what was sent has come. */
  close(): void {
    this.user = undefined;
    const { peer } = this;
    const delayUs = Math.max(0, this.#lastUs - this.clock.nowUs) + this.random.between(1, this.manners.delayUs);
    this.clock.after(delayUs, () => {
      if (peer === undefined || peer.#isCut) return;
      peer.#isCut = true;
      this.#isCut = true;
      peer.#tellLost();
    });
  }

  #announce({ head }: Frame): void {
    if (this.peer !== undefined && !this.peer.#isCut) this.peer.user?.onAnnounced(head);
  }

  #arrive({ head, body }: Frame, wasAnnounced: boolean): void {
    const { peer } = this;
    if (peer === undefined || peer.#isCut) return;
    this.#underWay -= 1;
    peer.user?.onFrame(head, body, wasAnnounced);
    if (!this.#isCut) this.user?.onRoom();
  }

  #tellLost(): void {
    const { user } = this;
    this.user = undefined;
    user?.onLost();
  }
}

/** A link, as its two ends. */
export function makeLink(clock: Clock, random: SeededRandom, manners: LinkManners): readonly [LinkEnd, LinkEnd] {
  const ends = [new LinkEnd(clock, random, manners), new LinkEnd(clock, random, manners)] as const;
  [ends[0].peer, ends[1].peer] = [ends[1], ends[0]];
  return ends;
}
