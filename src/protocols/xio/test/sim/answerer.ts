import type { SeededRandom } from '../../../../device/link/index.js';
import { Item } from '../../protocol/index.js';
import { Flag, type Head, Kind } from '../../wire/index.js';
import { check } from '../../../../../test/sim/failure.js';
import { idIn } from './caller.js';
import type { Clock } from './clock.js';
import { bodyOf, type Ledger } from './ledger.js';
import type { Speaker } from './speaker.js';

/** An end's program that does what the peer asks, in its time. */
export class Answerer {
  readonly #due = new Map<number, () => void>();
  #isGone = false;
  #lastMessage = -1;

  constructor(
    private readonly ledger: Ledger,
    private readonly clock: Clock,
    private readonly random: SeededRandom,
    private readonly serviceUs: number,
    private readonly speaker: () => Speaker,
  ) {}

  onRequest({ sn, maxResponseBytes, flags }: Head, header: Uint8Array, body: Uint8Array): void {
    const id = idIn(header);
    this.ledger.executed(id, body);
    const isApart = (flags & Flag.APART_RESPONSE) !== 0;
    this.#soon(sn, () => {
      const fields = { isApart, about: sn, body: bodyOf(id, maxResponseBytes, 1), flags: Flag.ACKNOWLEDGE };
      this.speaker().channel.respond(new Item(Kind.RESPONSE, fields));
    });
  }

  onMessage({ sn }: Head, header: Uint8Array, body: Uint8Array): void {
    const id = idIn(header);
    this.ledger.executed(id, body);
    check(sn > this.#lastMessage, () => `message ${id} comes after one that was sent after it`);
    this.#lastMessage = sn;
    this.#soon(sn, () => this.speaker().channel.release(sn));
  }

  /** The requester has given up: there is no use in taking time. */
  onCancel(sn: number): void {
    this.#due.get(sn)?.();
  }

  onForgotten(sn: number): void {
    this.#due.delete(sn);
    this.#lastMessage = -1;
  }

  restarted(): void {
    this.#lastMessage = -1;
  }

  end(): void {
    this.#isGone = true;
    this.#due.clear();
  }

  #soon(sn: number, action: () => void): void {
    const act = (): void => {
      if (this.#isGone || this.#due.get(sn) !== act) return;
      this.#due.delete(sn);
      action();
      this.speaker().pump();
    };
    this.#due.set(sn, act);
    this.clock.after(this.random.between(0, this.serviceUs), act);
  }
}
