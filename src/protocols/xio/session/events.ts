import { Callbacks, warnOf } from '../../../api/runtime/index.js';
import { invalid, show, VerbsError } from '../../../api/verbs/index.js';
import type { XioSessionEvents } from '../api.js';

const NAMES: Readonly<Record<keyof XioSessionEvents, true>> = {
  request: true,
  reconnecting: true,
  reconnected: true,
  redirected: true,
  close: true,
};

/** The handlers of a session's events, one for each. */
export class Events {
  readonly #handlers: Partial<XioSessionEvents> = {};
  /** Calls the handlers in the async context in which the session was made. */
  readonly callbacks = new Callbacks();

  get request(): XioSessionEvents['request'] | undefined {
    return this.#handlers.request;
  }

  /** @throws VerbsError EINVAL for what is no such event, or no handler */
  set<E extends keyof XioSessionEvents>(event: E, handler: XioSessionEvents[E] | undefined): void {
    if (!Object.hasOwn(NAMES, event)) {
      const advice = `It is one of ${Object.keys(NAMES).join(', ')}`;
      throw new VerbsError('on', invalid(`there is no event ${show(event)}`, advice));
    }
    if (handler !== undefined && typeof handler !== 'function')
      throw new VerbsError('on', invalid(`the handler of ${event} is ${show(handler)}`, 'It is a function'));
    Object.assign(this.#handlers, { [event]: handler });
  }

  /** Calls a handler of the program, in a turn of its own. An exception of the handler ends nothing else. */
  tell(action: (handlers: Partial<XioSessionEvents>) => void): void {
    this.callbacks.call(() => {
      try {
        action(this.#handlers);
      } catch (error) {
        warnOf(error);
      }
    });
  }
}
