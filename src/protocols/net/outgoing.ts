import type { StreamSocket } from '../rsocket/index.js';
import { codeOf, systemError } from './errors.js';

type Done = (error?: Error | null) => void;

const NOTHING: readonly Uint8Array[] = [];
const noOne: Done = () => {};

/** The way from a writer to a stream: the one write that is under way, as `Writable` gives them, with what the stream has not taken of it. */
export class Outgoing {
  /** Bytes of the writes that are through. */
  completedBytes = 0;
  #pieces = NOTHING;
  #index = 0;
  #offset = 0;
  #done = noOne;
  #isLastWordSpent = false;

  /** @param onRefused is told why the stream takes no more of the write that is under way, which {@link abandon} ends */
  constructor(private readonly onRefused: (error: Error) => void) {}

  /** There is another stream from now on, and no write under way. */
  begin(): void {
    this.completedBytes = 0;
    this.#isLastWordSpent = false;
  }

  get isBusy(): boolean {
    return this.#done !== noOne;
  }

  /** @param done told when the stream has taken all, or that it never will */
  write(pieces: readonly Uint8Array[], done: Done): void {
    this.#pieces = pieces;
    this.#index = 0;
    this.#offset = 0;
    this.#done = done;
  }

  /** Hands the stream what it takes. The write that is under way ends when that is all, and when the stream takes no more. @returns whether it took anything */
  flush(stream: StreamSocket): boolean {
    if (!this.isBusy) return false;
    let isProgress = false;
    for (; this.#index < this.#pieces.length; this.#index += 1, this.#offset = 0) {
      const piece = this.#pieces[this.#index];
      const rest = this.#offset === 0 ? piece : piece.subarray(this.#offset);
      let taken = 0;
      try {
        taken = rest.length === 0 ? 0 : stream.write(rest);
      } catch (error) {
        this.#refused(error);
        return false;
      }
      isProgress ||= taken > 0;
      this.#offset += taken;
      if (taken < rest.length) return isProgress;
    }
    // Calls the program, whose exceptions are its own.
    this.#drop();
    return true;
  }

  /** The write that is under way counts as done. */
  #drop(): void {
    for (const piece of this.#pieces) this.completedBytes += piece.length;
    this.#finish(null);
  }

  /** The stream has ended: the write that is under way fails. */
  abandon(error: Error): void {
    if (this.isBusy) this.#finish(error);
  }

  /**
   * Whether one more write is taken, and lost, as TCP does after the peer has closed: ends that say goodbye at the same time, as those of TLS
   * do, are not disturbed. True once.
   */
  takeLastWord(): boolean {
    const isTaken = !this.#isLastWordSpent;
    this.#isLastWordSpent = true;
    return isTaken;
  }

  /** The peer has closed. */
  #refused(error: unknown): void {
    if (codeOf(error) !== 'ECONNRESET') this.onRefused(systemError('write', error));
    else if (!this.takeLastWord()) this.onRefused(systemError('write', error, undefined, 'EPIPE'));
    else if (this.isBusy) this.#drop();
  }

  #finish(error: Error | null): void {
    const done = this.#done;
    this.#done = noOne;
    this.#pieces = NOTHING;
    done(error);
  }
}

/** Ends a stream's direction to the peer. @returns why that cannot be */
export function shutDown(stream: StreamSocket | undefined): Error | undefined {
  try {
    stream?.shutdown('write');
    return undefined;
  } catch (error) {
    return systemError('shutdown', error);
  }
}
