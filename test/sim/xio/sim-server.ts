import { hex, type Item, ServedSessions } from '../../../src/layers/xio/protocol/index.js';
import {
  Action,
  decodeSetupRequest,
  encodeMove,
  encodeSetupAnswer,
  Flag,
  type Head,
  Kind,
  NO_LIMITS,
  type SetupAnswer,
  type SetupRequest,
  XioStatus,
} from '../../../src/layers/xio/wire/index.js';
import { check, SimulationFailure } from '../failure.js';
import { Answerer } from './answerer.js';
import { Caller } from './caller.js';
import { Direct, finishWhenIdle } from './direct.js';
import { Speaker, type SpeakerOwner } from './speaker.js';
import type { LinkEnd, LinkUser } from './wire-link.js';
import type { World } from './world.js';

/** A server of the simulation, through all its lives. */
export class SimServer {
  isUp = true;
  lives = 0;
  #sessions: ServedSessions<ServedEnd>;
  readonly #ends = new Set<ServedEnd>();
  /** Its sessions, by their names. */
  readonly #groups = new Map<string, ServedGroup>();
  /** Sessions that have come. */
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

  /** Sends the sessions on that it has. */
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
        new Guest(link, () => undefined).say(answer(this.epoch, { action: Action.UNKNOWN }), verdict.received);
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
    new Guest(link, () => undefined).say(answer(this.epoch, said));
    link.close();
  }

  #epoch(): Uint8Array {
    return Uint8Array.from([this.index, this.lives, 1, 1, 1, 1, 1, 1]);
  }
}

/** What a server tells a client that it rejects. */
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

/** A server's end of a session: of those of its connections that have come there. */
class ServedGroup {
  readonly #ends: ServedEnd[] = [];
  #isClosing = false;
  #isOver = false;
  #move: Uint8Array | undefined;

  constructor(private readonly world: World) {}

  get isMoved(): boolean {
    return this.#move !== undefined;
  }

  join(end: ServedEnd, link: LinkEnd): void {
    this.#ends.push(end);
    end.begin(link);
    if (this.#move !== undefined) end.speaker.channel.move(this.#move);
    if (this.#isClosing) this.finishAll();
    end.speaker.pump();
  }

  /** Sends the client on, who has its answers here all the same. */
  move(to: number): void {
    if (this.isMoved || this.#isClosing) return;
    this.#move = encodeMove([String(to)]);
    for (const { speaker } of this.#ends) speaker.channel.move(this.#move);
    this.finishAll();
    for (const { speaker } of this.#ends.slice()) speaker.pump();
  }

  finishAll(): void {
    this.#isClosing = true;
    finishWhenIdle(this.#ends);
  }

  endIfDone(): void {
    const isDone = this.#ends.every(
      ({ speaker: { channel } }) => channel.isDone || (channel.isParting && !channel.isAttached),
    );
    if (isDone) this.#over(XioStatus.XIO_E_SUCCESS);
  }

  /** One of its connections has not come back. */
  lose(): void {
    this.world.ledger.mayForget = true;
    this.#over(XioStatus.XIO_E_SESSION_DISCONNECTED);
  }

  #over(status: XioStatus): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const end of this.#ends) end.end(status);
  }
}

/** A server's end of a connection. */
export class ServedEnd implements SpeakerOwner {
  readonly speaker: Speaker;
  readonly #caller: Caller;
  readonly #answerer: Answerer;
  readonly direct: Direct;
  #stopTimer: (() => void) | undefined;
  #isOver = false;

  constructor(
    private readonly server: SimServer,
    readonly request: SetupRequest,
    readonly group: ServedGroup,
  ) {
    const { ledger, clock, random, plan } = server.world;
    this.speaker = new Speaker(plan.servers[server.index].limits, this);
    const speaker = (): Speaker => this.speaker;
    this.#caller = new Caller(ledger, clock, speaker);
    this.#answerer = new Answerer(ledger, clock, random, plan.serviceUs, speaker);
    this.direct = new Direct(server.world, speaker);
    server.world.ends.set(`${hex(request.sessionId)}/${request.connection} ${server.index}`, this);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  directLanding(header: Uint8Array, bodyBytes: number): Uint8Array | undefined {
    return this.direct.landing(header, bodyBytes);
  }

  get received(): number {
    return this.speaker.channel.received;
  }

  begin(link: LinkEnd): void {
    this.speaker.use(link);
    this.speaker.channel.begin(this.request.limits);
    this.#attach(0);
    const { plan, random, clock } = this.server.world;
    if (!plan.bothWays) return;
    for (let i = 0; i < 4; i += 1) clock.after(random.between(0, 20_000), () => this.#ask());
  }

  resume(link: LinkEnd, received: number): void {
    this.#stopTimer?.();
    this.speaker.leave();
    if (this.speaker.channel.isAttached) this.speaker.channel.detach();
    this.speaker.use(link);
    this.#attach(received);
  }

  /** The process is gone. */
  crash(): void {
    this.#isOver = true;
    this.#stopTimer?.();
    this.#answerer.end();
    this.direct.end(XioStatus.XIO_E_SESSION_ABORTED);
    this.speaker.link?.cut();
    // Nobody is left to be told of what it has asked.
    this.speaker.channel.end(XioStatus.XIO_E_SESSION_ABORTED);
  }

  onRequest(head: Head, header: Uint8Array, body: Uint8Array): void {
    if ((head.flags & Flag.DIRECT) !== 0) this.direct.onRequest(head, header, body);
    else this.#answerer.onRequest(head, header, body);
  }

  onMessage(head: Head, header: Uint8Array, body: Uint8Array): void {
    this.#answerer.onMessage(head, header, body);
  }

  onResponse(item: Item, head: Head, header: Uint8Array, body: Uint8Array): void {
    if (!this.direct.onResponse(item, head, header, body)) this.#caller.answered(item, body);
  }

  onReceipt(item: Item): void {
    this.#caller.received(item);
  }

  onCancel(sn: number): void {
    this.#answerer.onCancel(sn);
  }

  onAcknowledged(item: Item): void {
    this.#caller.acknowledged(item);
  }

  onGone(): void {
    // Its memory is looked after by sessions.
  }

  onFailed(item: Item, status: XioStatus): void {
    if (!this.direct.onFailed(item, status)) this.#caller.failed(item, status);
  }

  onForgotten(sn: number): void {
    this.#answerer.onForgotten(sn);
  }

  onFin(): void {
    this.group.finishAll();
  }

  /** It begins nothing any more. */
  finish(): void {
    this.speaker.channel.finish();
    this.speaker.pump();
  }

  onMove(): string {
    return 'a client sends its server on';
  }

  onSetup(): void {
    check(false, () => 'a client asks twice on one link');
  }

  onLinkLost(): void {
    if (this.#isOver) return;
    const { channel } = this.speaker;
    channel.detach();
    if (channel.isParting) this.group.endIfDone();
    else {
      const { clock, plan } = this.server.world;
      this.#stopTimer = clock.after(plan.serverReconnectMs * 1000, () => this.group.lose());
    }
  }

  onDone(): void {
    this.#checkEmpty();
    this.speaker.leave();
    this.group.endIfDone();
  }

  #ask(): void {
    const { channel } = this.speaker;
    if (this.#isOver || channel.isFinishing || channel.peer === undefined) return;
    const { random } = this.server.world;
    const bytes = random.between(0, channel.peer.maxBodyBytes);
    const deadlineUs = random.chance(0.2) ? random.between(1, 5000) : Infinity;
    this.#caller.call({ kind: 'request', bytes, deadlineUs, isIdempotent: false, receipt: false, isApart: false });
  }

  #attach(received: number): void {
    const { channel } = this.speaker;
    const lie = channel.attach(received);
    check(lie === undefined, () => `an honest client is taken for a liar: ${lie}`);
    this.speaker.say(Kind.SESSION_ANSWER, answer(this.server.epoch, { action: Action.ACCEPT, limits: channel.own }));
  }

  /** Nothing is done by it any more. */
  end(status: XioStatus): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopTimer?.();
    this.#answerer.end();
    this.direct.end(status);
    this.speaker.channel.end(status);
    this.speaker.leave();
    this.server.forget(this);
  }

  #checkEmpty(): void {
    // A client does not wait until its messages are let go of.
    const { kept, asked, waiting } = this.speaker.channel;
    check(kept + asked + waiting === 0, () => `a server's end is done with ${kept} ${asked} ${waiting}`);
  }
}

function answer(epoch: Uint8Array, said: Partial<SetupAnswer> & Pick<SetupAnswer, 'action'>): Uint8Array {
  const nothingElse = {
    status: XioStatus.XIO_E_SUCCESS,
    limits: NO_LIMITS,
    addresses: [],
    privateData: new Uint8Array(0),
    words: '',
  };
  return encodeSetupAnswer({ epoch, ...nothingElse, ...said });
}
