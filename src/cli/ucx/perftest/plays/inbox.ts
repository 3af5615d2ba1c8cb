/** Those that have come, and those who wait for one. */
export class Inbox {
  #arrived = 0;
  readonly #waiting: (() => void)[] = [];

  arrive(): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#arrived += 1;
    else waiting();
  }

  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#arrived === 0) this.#waiting.push(resolve);
      else {
        this.#arrived -= 1;
        resolve();
      }
    });
  }
}
