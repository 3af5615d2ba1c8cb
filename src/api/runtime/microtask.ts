const settled = Promise.resolve();

/**
 * An action that is done in a microtask, once however often that was asked for by then. `queueMicrotask` of Node makes several objects each time, of 600 bytes
 * together; what the action throws ends up where it has it end up.
 */
export class Microtask {
  #isQueued = false;

  constructor(private readonly action: () => void) {}

  queue(): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    void settled.then(this.#run);
  }

  readonly #run = (): void => {
    this.#isQueued = false;
    try {
      this.action();
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  };
}
