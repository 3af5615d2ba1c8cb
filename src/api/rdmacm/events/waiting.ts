import type { CmEventType } from '../../../device/ibta/index.js';
import { whenAborted } from '../../runtime/index.js';
import { type Context, invalid, type Problem, show, VerbsError } from '../../verbs/index.js';
import { queueOf } from './event-channel.js';
import { after } from '../../provider/index.js';
import { unexpectedEvent } from './event-error.js';
import type { CmEvent, EventChannel } from '../objects.js';

/** Milliseconds that making a connection may take, where nobody says otherwise. */
const DEFAULT_TIMEOUT_MS = 10_000;
/** What `setTimeout` can count. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Whose answer is waited for, and how long somebody is ready to: until a signal, or for some time. */
export interface Wait {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly host: string;
  readonly port: number;
  /** The device, where it is known: a simulated one has a clock of its own. */
  readonly context?: Context | undefined;
}

/** How long somebody is ready to wait: until a signal, or for some time. */
export class Patience implements Disposable {
  readonly #controller = new AbortController();
  readonly #stopTimer: (() => void) | undefined;
  readonly #stop: () => void;

  /**
   * @param call the C name of what is waited for, for the error
   * @throws VerbsError EINVAL when `timeoutMs` is not a time; the signal's reason when it was aborted before
   */
  constructor(call: string, { signal, timeoutMs = DEFAULT_TIMEOUT_MS, host, port, context }: Wait) {
    checkSignal(call, signal);
    signal?.throwIfAborted();
    if (typeof timeoutMs !== 'number' || !(timeoutMs >= 0))
      throw new VerbsError(call, invalid(`timeoutMs is ${show(timeoutMs)}`, 'It is a number of milliseconds'));
    const abort = (): void => this.#controller.abort(signal?.reason);
    this.#stop = signal === undefined ? () => undefined : whenAborted(signal, abort);
    if (timeoutMs > MAX_TIMEOUT_MS) return;
    const problem: Problem = {
      errno: 'ETIMEDOUT',
      message: `no answer from ${host}, port ${port}, within ${timeoutMs} ms`,
      advice: 'Is a device up at that address, and does its program answer requests?',
    };
    this.#stopTimer = after(context, timeoutMs, () => this.#controller.abort(new VerbsError(call, problem)));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    this.#stop();
    this.#stopTimer?.();
  }
}

/** @throws VerbsError EINVAL for what is not an AbortSignal */
export function checkSignal(call: string, signal: unknown): void {
  if (signal === undefined || signal instanceof AbortSignal) return;
  throw new VerbsError(call, invalid(`signal is ${show(signal)}`, 'It is an AbortSignal'));
}

/**
 * The next event of a channel, acknowledged.
 *
 * @param expected what it should be
 * @throws the signal's reason; VerbsError when another event came
 */
export async function expectEvent(
  call: string,
  channel: EventChannel,
  expected: CmEventType,
  signal: AbortSignal,
): Promise<CmEvent> {
  const event = await queueOf(channel, call).next(signal);
  event?.ack();
  signal.throwIfAborted();
  if (event?.event === expected && event.status === 0) return event;
  if (event !== undefined) throw unexpectedEvent(call, event);
  throw new VerbsError(call, { errno: 'ECANCELED', message: 'the channel was ended', advice: '' });
}

/** What a promise gives, unless the signal comes first. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    // A signal's reason is whatever the program makes of it.
    stop = whenAborted(signal, () => reject(signal.reason as Error));
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    stop?.();
  }
}
