import type { Readable } from 'node:stream';
import { runtime } from '../../api/runtime/index.js';

/** How long a failure waits for a program that has stopped reading. */
const UNREAD_MS = 5000;

/** Whether a program reads a stream, or did so until it paused. What nobody reads delays no failure. */
export function isRead(stream: Readable): boolean {
  return stream.readableFlowing !== null || stream.listenerCount('readable') > 0;
}

interface Reader {
  /** Whether bytes or the end have come that somebody is going to read. */
  hasUnread(): boolean;
  fail(error: Error): void;
}

/** Why a socket fails: reported once all bytes that came before have been read, as libuv reads before it reports that a write failed. */
export class DelayedFailure {
  error: Error | undefined;
  #stopWaiting: (() => void) | undefined;

  constructor(private readonly reader: Reader) {}

  set(error: Error): void {
    this.error ??= error;
  }

  /** Reports it, unless something is unread. Each call restarts the time limit: while a program reads on, there is none. */
  report(): void {
    const { error, reader } = this;
    this.cancel();
    if (error === undefined) return;
    if (reader.hasUnread()) this.#stopWaiting = runtime().chore(UNREAD_MS, () => reader.fail(error));
    else reader.fail(error);
  }

  /** It is not reported any more, unless {@link report} is called again. */
  cancel(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
  }

  clear(): void {
    this.cancel();
    this.error = undefined;
  }
}
