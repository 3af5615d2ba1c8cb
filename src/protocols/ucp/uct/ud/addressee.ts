import type { Ah } from '../../../../api/verbs/index.js';
import type { Completion } from '../endpoint.js';
import type { Afterwards } from '../afterwards.js';

export class Addressee implements Completion {
  readonly afterwards: Afterwards = { completion: this };
  #underWay = 0;
  #hasEnded = false;

  constructor(
    readonly ah: Ah,
    readonly qpn: number,
    readonly qkey: number,
  ) {}

  sent(): void {
    this.#underWay += 1;
  }

  left(): void {
    this.#underWay -= 1;
    this.#tidy();
  }

  /** {@link left}. */
  onComplete(): void {
    this.left();
  }

  /** Nothing more is sent to it. Idempotent. */
  end(): void {
    this.#hasEnded = true;
    this.#tidy();
  }

  /** An address handle that ended under a datagram would take the queue pair with it. */
  #tidy(): void {
    if (this.#hasEnded && this.#underWay === 0) this.ah[Symbol.dispose]();
  }
}
