import type { Item } from '../../protocol/index.js';
import { Flag, type Head, type Limits, type XioStatus } from '../../wire/index.js';
import { Answerer } from './answerer.js';
import { Caller } from './caller.js';
import { Direct } from './direct.js';
import { Speaker, type SpeakerOwner } from './speaker.js';
import type { World } from './world.js';

/** An end of a connection, with its program: both ends ask, answer and share memory in the same way. */
export abstract class SimEnd implements SpeakerOwner {
  readonly speaker: Speaker;
  readonly direct: Direct;
  protected readonly caller: Caller;
  protected readonly answerer: Answerer;
  #isOver = false;

  constructor(
    protected readonly world: World,
    limits: Limits,
  ) {
    const { ledger, clock, random, plan } = world;
    this.speaker = new Speaker(limits, this);
    const speaker = (): Speaker => this.speaker;
    this.caller = new Caller(ledger, clock, speaker);
    this.answerer = new Answerer(ledger, clock, random, plan.serviceUs, speaker);
    this.direct = new Direct(world, speaker);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** It begins nothing any more. */
  finish(): void {
    this.speaker.channel.finish();
    this.speaker.pump();
  }

  /** Nothing is done by it any more. @returns false where that is so already */
  protected endsNow(status: XioStatus): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.answerer.end();
    this.direct.end(status);
    return true;
  }

  directLanding(header: Uint8Array, bodyBytes: number): Uint8Array | undefined {
    return this.direct.landing(header, bodyBytes);
  }

  onRequest(head: Head, header: Uint8Array, body: Uint8Array): void {
    if ((head.flags & Flag.DIRECT) !== 0) this.direct.onRequest(head, header, body);
    else this.answerer.onRequest(head, header, body);
  }

  onMessage(head: Head, header: Uint8Array, body: Uint8Array): void {
    this.answerer.onMessage(head, header, body);
  }

  onResponse(item: Item, head: Head, header: Uint8Array, body: Uint8Array): void {
    if (!this.direct.onResponse(item, head, header, body)) this.caller.answered(item, body);
  }

  onReceipt(item: Item): void {
    this.caller.received(item);
  }

  onCancel(sn: number): void {
    this.answerer.onCancel(sn);
  }

  onAcknowledged(item: Item): void {
    this.caller.acknowledged(item);
  }

  onGone(): void {
    // Its memory is looked after by sessions.
  }

  onFailed(item: Item, status: XioStatus): void {
    if (!this.direct.onFailed(item, status)) this.caller.failed(item, status);
  }

  onForgotten(sn: number): void {
    this.answerer.onForgotten(sn);
  }

  abstract onFin(): void;
  abstract onMove(addresses: readonly string[]): string | undefined;
  abstract onSetup(head: Head, header: Uint8Array): void;
  abstract onLinkLost(): void;
  abstract onDone(): void;
}
