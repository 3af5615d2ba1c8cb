import type { SeededRandom } from '../../../../device/link/index.js';
import type { GrantedPlace, Moved, Moving } from '../../protocol/index.js';
import { type Access, type Body, gather, type MoveOutcome } from '../../wire/index.js';
import type { Clock } from './clock.js';
import { RemoteMemory } from './remote-memory.js';

/** An end of a link, and whoever has it. */
export interface LinkUser {
  /** A body begins to come. @returns where it is to lie; undefined for anywhere */
  onAnnounced(head: Uint8Array): Uint8Array | undefined;
  onFrame(head: Uint8Array, body: Uint8Array, wasAnnounced: boolean): void;
  onRoom(): void;
  onLost(): void;
}

interface Frame {
  readonly head: Uint8Array;
  /** Read when it comes, where it does not go along with its head. */
  source: Body;
  landing: Uint8Array | undefined;
  isRedirected: boolean;
}

export interface LinkManners {
  readonly delayUs: number;
  readonly room: number;
  /** Bodies of more bytes come apart from their heads. */
  readonly inlineBytes: number;
  /** Whether memory of the peer's can be used without messages. */
  readonly isDirect: boolean;
}

/** One end of a link: frames in their order, until it is cut. */
export class LinkEnd {
  user: LinkUser | undefined;
  peer: LinkEnd | undefined;
  readonly memory: RemoteMemory;
  #underWay = 0;
  #isCut = false;
  #lastUs = 0;
  #coming: Frame | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly random: SeededRandom,
    directRandom: SeededRandom,
    private readonly manners: LinkManners,
  ) {
    this.memory = new RemoteMemory(clock, directRandom, manners.delayUs);
  }

  get canSend(): boolean {
    return !this.#isCut && this.#underWay < this.manners.room;
  }

  get isDirect(): boolean {
    return this.manners.isDirect;
  }

  /** @returns takes the body back: what is sent is what it was */
  send(head: Uint8Array, body: Body, mustBeApart: boolean): () => void {
    if (this.#isCut) return () => undefined;
    const { delayUs, inlineBytes } = this.manners;
    const bytes = gather(body);
    const isApart = bytes.length > inlineBytes || (mustBeApart && bytes.length > 0);
    const frame: Frame = {
      head: head.slice(),
      source: isApart ? body : bytes,
      landing: undefined,
      isRedirected: false,
    };
    this.#underWay += 1;
    const arrivesUs = Math.max(this.#lastUs, this.clock.nowUs + this.random.between(1, delayUs));
    const endsUs = arrivesUs + (isApart ? this.random.between(1, delayUs) : 0);
    this.#lastUs = endsUs;
    if (isApart) this.clock.after(arrivesUs - this.clock.nowUs, () => this.#announce(frame));
    this.clock.after(endsUs - this.clock.nowUs, () => this.#arrive(frame, isApart));
    return () => {
      frame.source = gather(frame.source);
    };
  }

  grant(bytes: Uint8Array, access: Access): GrantedPlace | undefined {
    return this.isDirect && !this.#isCut ? this.memory.grant(bytes, access) : undefined;
  }

  move(move: Moved, onMoved: (outcome: MoveOutcome) => void): Moving | undefined {
    const { peer } = this;
    if (!this.isDirect || this.#isCut || peer === undefined) return undefined;
    return this.memory.move(move, peer.memory, onMoved, () => this.cut());
  }

  /** What still comes for that memory is lost. */
  redirect(landing: Uint8Array): void {
    if (this.#coming?.landing === landing) this.#coming.isRedirected = true;
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
    this.memory.end();
    const { peer } = this;
    const delayUs = Math.max(0, this.#lastUs - this.clock.nowUs) + this.random.between(1, this.manners.delayUs);
    this.clock.after(delayUs, () => {
      if (peer === undefined || peer.#isCut) return;
      peer.#isCut = true;
      this.#isCut = true;
      peer.#tellLost();
    });
  }

  #announce(frame: Frame): void {
    const { peer } = this;
    if (peer === undefined || peer.#isCut) return;
    frame.landing = peer.user?.onAnnounced(frame.head);
    peer.#coming = frame;
    if (frame.landing !== undefined) frame.landing.set(halfOf(gather(frame.source)));
  }

  #arrive(frame: Frame, wasAnnounced: boolean): void {
    const { peer } = this;
    if (peer === undefined || peer.#isCut) return;
    this.#underWay -= 1;
    const bytes = gather(frame.source);
    const { landing } = frame;
    if (landing !== undefined && !frame.isRedirected) landing.set(bytes);
    peer.#coming = undefined;
    peer.user?.onFrame(frame.head, landing ?? bytes, wasAnnounced);
    if (!this.#isCut) this.user?.onRoom();
  }

  #tellLost(): void {
    const { user } = this;
    this.user = undefined;
    this.memory.end();
    user?.onLost();
  }
}

function halfOf(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, bytes.length >> 1);
}

/** A link, as its two ends. @param randoms of its messages, and of memory that is used without */
export function makeLink(
  clock: Clock,
  [random, directRandom]: readonly [SeededRandom, SeededRandom],
  manners: LinkManners,
): readonly [LinkEnd, LinkEnd] {
  const made = (): LinkEnd => new LinkEnd(clock, random, directRandom, manners);
  const ends = [made(), made()] as const;
  [ends[0].peer, ends[1].peer] = [ends[1], ends[0]];
  return ends;
}
