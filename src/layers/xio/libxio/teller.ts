import { runtime } from '../../../api/runtime/index.js';

/** Tells a program what happens, one thing after the other, and never while a call of the program's runs. */
export class Teller {
  readonly #waiting: (() => void)[] = [];
  #isDue = false;
  /** Something was told. */
  onTold: (() => void) | undefined;

  tell(action: () => void): void {
    this.#waiting.push(action);
    if (this.#isDue) return;
    this.#isDue = true;
    void Promise.resolve().then(() => this.#tellAll());
  }

  #tellAll(): void {
    for (let action = this.#waiting.shift(); action !== undefined; action = this.#waiting.shift()) {
      try {
        action();
      } catch (error) {
        runtime().warn(error instanceof Error ? error : new Error(String(error)));
      }
      this.onTold?.();
    }
    this.#isDue = false;
  }
}
