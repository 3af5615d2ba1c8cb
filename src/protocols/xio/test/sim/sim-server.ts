import { hex, ServedSessions } from '../../protocol/index.js';
import {
  Action,
  decodeSetupRequest,
  Kind,
  NO_LIMITS,
  type SetupAnswer,
  type SetupRequest,
  XioStatus,
} from '../../wire/index.js';
import { check, SimulationFailure } from '../../../../../test/sim/failure.js';
import { ServedEnd } from './served-end.js';
import { ServedGroup } from './served-group.js';
import { setupAnswer } from './setup-answer.js';
import { Speaker, type SpeakerOwner } from './speaker.js';
import type { LinkEnd, LinkUser } from './wire-link.js';
import type { World } from './world.js';

export class SimServer {
  isUp = true;
  lives = 0;
  #sessions: ServedSessions<ServedEnd>;
  readonly #ends = new Set<ServedEnd>();
  readonly #groups = new Map<string, ServedGroup>();
  #asked = 0;

  constructor(
    readonly world: World,
    readonly index: number,
  ) {
    this.#sessions = new ServedSessions(this.#epoch());
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  get epoch(): Uint8Array {
    return this.#sessions.epoch;
  }

  /** Its process ends; whoever was connected finds that out. */
  crash(): void {
    this.isUp = false;
    this.world.ledger.mayForget = true;
    for (const end of this.#ends) end.crash();
    this.#ends.clear();
    this.#groups.clear();
    this.lives += 1;
    this.#sessions = new ServedSessions(this.#epoch());
  }

  move(to: number): void {
    if (this.isUp) for (const group of this.#groups.values()) group.move(to);
  }

  onLink(link: LinkEnd): void {
    link.user = new Guest(link, (request, received) => this.#onAsked(link, request, received));
  }

  forget(end: ServedEnd): void {
    this.#ends.delete(end);
    const { isParting, received } = end.speaker.channel;
    if (end.group.isMoved && isParting) this.#sessions.part(end.request, received);
    this.#sessions.removeIf(end.request, (other) => other === end);
    const name = hex(end.request.sessionId);
    if (this.#groups.get(name) === end.group) this.#groups.delete(name);
  }

  #onAsked(link: LinkEnd, request: SetupRequest, received: number): void {
    const verdict = this.#sessions.decide(request, received);
    switch (verdict.action) {
      case 'begin':
        this.#begin(link, request);
        return;
      case 'resume':
        verdict.end.resume(link, received);
        return;
      case Action.UNKNOWN:
        new Guest(link, () => undefined).say(setupAnswer(this.epoch, { action: Action.UNKNOWN }), verdict.received);
        this.onLink(link);
        return;
      case 'distrust':
        check(false, () => `an honest client is taken for a liar: ${verdict.lie}`);
    }
  }

  #begin(link: LinkEnd, request: SetupRequest): void {
    const { redirectsTo, rejects } = this.world.plan.servers[this.index];
    if (redirectsTo !== undefined) {
      this.#refuse(link, { action: Action.REDIRECT, addresses: [String(redirectsTo)] });
      return;
    }
    const name = hex(request.sessionId);
    let group = this.#groups.get(name);
    if (group === undefined) {
      const number = this.#asked;
      this.#asked += 1;
      if (number === rejects) {
        this.#refuse(link, { action: Action.REJECT, ...rejectionBy(this.index) });
        return;
      }
      group = new ServedGroup(this.world);
      this.#groups.set(name, group);
    }
    const end = new ServedEnd(this, request, group);
    this.#ends.add(end);
    this.#sessions.add(request, end);
    group.join(end, link);
  }

  #refuse(link: LinkEnd, said: Partial<SetupAnswer> & Pick<SetupAnswer, 'action'>): void {
    new Guest(link, () => undefined).say(setupAnswer(this.epoch, said));
    link.close();
  }

  #epoch(): Uint8Array {
    return Uint8Array.from([this.index, this.lives, 1, 1, 1, 1, 1, 1]);
  }
}

export function rejectionBy(server: number): Pick<SetupAnswer, 'status' | 'words' | 'privateData'> {
  return { status: XioStatus.XIO_E_NO_BUFS, words: `server ${server}`, privateData: Uint8Array.of(0xff, server) };
}

/** Whoever has connected, until it says what it wants. */
class Guest implements LinkUser {
  readonly #speaker: Speaker;

  constructor(
    private readonly link: LinkEnd,
    private readonly onAsked: (request: SetupRequest, received: number) => void,
  ) {
    const owner: SpeakerOwner = {
      ...nobody,
      onSetup: (head, header) => {
        const request = decodeSetupRequest(header);
        if (typeof request === 'string')
          throw new SimulationFailure(`an honest client's SESSION is refused: ${request}`);
        this.onAsked(request, head.ackSn);
      },
    };
    this.#speaker = new Speaker(NO_LIMITS, owner);
  }

  say(header: Uint8Array, received = 0): void {
    this.#speaker.use(this.link);
    this.#speaker.say(Kind.SESSION_ANSWER, header, received);
  }

  onAnnounced(head: Uint8Array): Uint8Array | undefined {
    return this.#speaker.onAnnounced(head);
  }

  onFrame(head: Uint8Array, body: Uint8Array, wasAnnounced: boolean): void {
    this.#speaker.onFrame(head, body, wasAnnounced);
  }

  onRoom(): void {
    this.#speaker.pump();
  }

  onLost(): void {
    // It was nobody yet.
  }
}

const nothing = (): void => undefined;
const nobody: SpeakerOwner = {
  directLanding: () => undefined,
  onRequest: nothing,
  onMessage: nothing,
  onResponse: nothing,
  onReceipt: nothing,
  onCancel: nothing,
  onAcknowledged: nothing,
  onGone: nothing,
  onFailed: nothing,
  onForgotten: nothing,
  onFin: nothing,
  onMove: () => undefined,
  onSetup: nothing,
  onLinkLost: nothing,
  onDone: nothing,
};
