import { Callbacks, warnOf } from '../../../api/runtime/index.js';

/** Calls the callbacks of a program: each in a turn of its own, in order, and in the async context in which this was made. */
export class Teller {
  readonly #callbacks = new Callbacks();
  /** Something was told. */
  onTold: (() => void) | undefined;

  tell(action: () => void): void {
    this.#callbacks.call(() => {
      try {
        action();
      } catch (error) {
        warnOf(error);
      }
      this.onTold?.();
    });
  }
}
