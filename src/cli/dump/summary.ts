/** Counting what a file held. */
import type { NotRoce } from '../../device/wire/index.js';
import type { Examined } from './examine.js';

/** What of a file's frames was what. */
export class Summary {
  #packets = 0;
  #wrong = 0;
  #cut = 0;
  #unreadable = 0;
  readonly #skipped = new Map<NotRoce, number>();

  /** Whether an ICRC was wrong. */
  get anyWrong(): boolean {
    return this.#wrong > 0;
  }

  count(examined: Examined | NotRoce): void {
    if (typeof examined === 'string') {
      this.#skipped.set(examined, (this.#skipped.get(examined) ?? 0) + 1);
      return;
    }
    this.#packets += 1;
    if (examined.verdict === 'wrong') this.#wrong += 1;
    if (examined.verdict === 'cut') this.#cut += 1;
    if (examined.refusal !== undefined) this.#unreadable += 1;
  }

  toString(): string {
    const words = [`${this.#packets} RoCE packets`, `${this.#wrong} with a wrong ICRC`];
    if (this.#cut > 0) words.push(`${this.#cut} cut by the capture`);
    if (this.#unreadable > 0) words.push(`${this.#unreadable} unreadable`);
    const skipped = [...this.#skipped.values()].reduce((sum, count) => sum + count, 0);
    const reasons = [...this.#skipped].map(([reason, count]) => `${count} ${reason}`).join(', ');
    return `${words.join(', ')}; ${skipped} other frames skipped${skipped === 0 ? '' : ` (${reasons})`}`;
  }
}
