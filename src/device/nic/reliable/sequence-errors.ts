/** Counts how often the peer asked for the same packet again (NAK PSN sequence error), for the error that ends it. */
export class SequenceErrors {
  #psn = -1;
  #times = 0;

  note(psn: number): void {
    this.#times = this.#psn === psn ? this.#times + 1 : 1;
    this.#psn = psn;
  }

  times(psn: number): number {
    return this.#psn === psn ? this.#times : 0;
  }

  forget(): void {
    this.#psn = -1;
  }
}
