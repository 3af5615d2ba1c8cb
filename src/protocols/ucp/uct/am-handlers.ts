import { AM_IDS } from '../wire/index.js';

/** Is given what comes. @param bytes header and data, true until it returns */
export type AmHandler = (bytes: Uint8Array) => void;

/** Who takes the active messages of an id. */
export class AmHandlers {
  readonly #handlers: (AmHandler | undefined)[] = Array.from({ length: AM_IDS }, () => undefined);
  #unknown = 0;

  /** Messages that nobody took, and that were dropped. */
  get unknown(): number {
    return this.#unknown;
  }

  /** @param id 0 to 31. @param handler undefined to have them dropped */
  set(id: number, handler: AmHandler | undefined): void {
    this.#handlers[id] = handler;
  }

  deliver(id: number, bytes: Uint8Array): void {
    const handler = this.#handlers[id];
    if (handler === undefined) this.#unknown += 1;
    else handler(bytes);
  }
}
