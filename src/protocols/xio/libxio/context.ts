import { after } from '../../../api/provider/index.js';
import { invalid, show, VerbsError } from '../../../api/verbs/index.js';
import type { XioOptions } from '../api.js';
import { checkMs, CONTEXT_FIELDS, settingsOf } from '../options.js';
import type { LibxioContext } from './handles.js';
import { wrongState } from './problems.js';
import { Callbacks, warnOf } from '../../../api/runtime/index.js';

/** What `xioContextCreate` takes: what `xio_set_opt` sets in C, and the device. */
export type XioContextParams = Omit<XioOptions, 'onBody'>;

export class ContextCore implements LibxioContext {
  readonly handle = 'context';
  readonly users = new Set<object>();
  isDestroyed = false;
  stopLoop: (() => void) | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(readonly params: XioContextParams) {}

  told(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Resolves when a program is told something, or the time is over. @returns how often it was told something by then */
  async poll(timeoutMs: number): Promise<number> {
    let count = 0;
    let stopTimer: (() => void) | undefined;
    let wake = (): void => undefined;
    await new Promise<void>((resolve) => {
      wake = () => {
        count += 1;
        resolve();
      };
      this.#waiting.add(wake);
      if (timeoutMs !== Infinity) stopTimer = after(this.params.context, timeoutMs, resolve);
    });
    this.#waiting.delete(wake);
    stopTimer?.();
    return count;
  }
}

/** @throws VerbsError EINVAL for what is no context; XioError XIO_E_STATE for one that was destroyed */
export function contextOf(call: string, context: LibxioContext): ContextCore {
  const given: unknown = context;
  if (!(given instanceof ContextCore)) throw new VerbsError(call, invalid(`the context is ${show(given)}`));
  if (given.isDestroyed) throw wrongState(call, 'the context was destroyed');
  return given;
}

/** `xio_context_create`. @throws VerbsError EINVAL for what is no such parameters */
export function xioContextCreate(params: XioContextParams = {}): LibxioContext {
  settingsOf('xioContextCreate', params, CONTEXT_FIELDS, 'client');
  return new ContextCore({ ...params });
}

/**
 * `xio_context_run_loop`. Node's event loop runs whether or not this was called; here a program waits for `xioContextStopLoop`.
 *
 * @param timeoutMs or Infinity
 * @returns when the loop was stopped, or the time is over
 * @throws (the promise rejects) XioError XIO_E_STATE where it runs already, or the context was destroyed; VerbsError EINVAL
 */
export async function xioContextRunLoop(context: LibxioContext, timeoutMs = Infinity): Promise<void> {
  const call = 'xioContextRunLoop';
  const core = contextOf(call, context);
  checkMs(call, 'timeoutMs', timeoutMs, 0, true);
  if (core.stopLoop !== undefined) throw wrongState(call, 'the loop of the context runs already');
  let stopTimer: (() => void) | undefined;
  await new Promise<void>((resolve) => {
    core.stopLoop = resolve;
    if (timeoutMs !== Infinity) stopTimer = after(core.params.context, timeoutMs, resolve);
  });
  core.stopLoop = undefined;
  stopTimer?.();
}

/**
 * `xio_context_poll_wait`: waits until something happens of which the program is told by a callback of a session that belongs to the context. What it waits for happens also where nobody waits.
 *
 * @param timeoutMs or Infinity
 * @returns how many callbacks were called by then; 0 when the time is over
 * @throws (the promise rejects) XioError XIO_E_STATE where the context was destroyed; VerbsError EINVAL
 */
export async function xioContextPollWait(context: LibxioContext, timeoutMs = Infinity): Promise<number> {
  const call = 'xioContextPollWait';
  const core = contextOf(call, context);
  checkMs(call, 'timeoutMs', timeoutMs, 0, true);
  return core.poll(timeoutMs);
}

/** `xio_context_stop_loop`: `xioContextRunLoop` is done. Nothing where the loop does not run. @throws XioError XIO_E_STATE where the context was destroyed */
export function xioContextStopLoop(context: LibxioContext): void {
  contextOf('xioContextStopLoop', context).stopLoop?.();
}

/** `xio_context_destroy`. @throws XioError XIO_E_STATE while its loop runs, or it has servers or connections; and where it was destroyed before */
export function xioContextDestroy(context: LibxioContext): void {
  const call = 'xioContextDestroy';
  const core = contextOf(call, context);
  if (core.stopLoop !== undefined) throw wrongState(call, 'the loop of the context runs');
  if (core.users.size > 0)
    throw wrongState(call, `the context has ${core.users.size} servers, sessions or connections`);
  core.isDestroyed = true;
}

/** Calls the callbacks of a program: each in a turn of its own, in order, and in the async context in which this was made. */
export class Teller {
  readonly #callbacks = new Callbacks();
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
