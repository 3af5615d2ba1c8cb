import { type Lease, Pending } from '../../core/index.js';
import type { Outgoing } from '../protocol/outgoing.js';
import { invalid, VerbsError } from '../../../api/verbs/index.js';

/**
 * Whether memory of the program's lacks bytes that it had: it was transferred, or shrank. Asked of `byteLength`: in code that V8 11.3 (Node 20) has compiled, `length` of a
 * view may stay what it was.
 */
export function isGone(bytes: Uint8Array, byteLength: number): boolean {
  return bytes.byteLength < byteLength;
}

/** What a call fails with whose memory {@link isGone is gone}. */
export function goneError(call: string): VerbsError {
  return new VerbsError(
    call,
    invalid('the memory is gone', 'It was transferred, or made shorter, before the call had ended'),
  );
}

/** An operation that posts requests, and learns how each of them ended, oldest first. */
export interface Poster {
  /** A request succeeded. @param lease what it read from, or wrote to: the queue releases it afterwards */
  onDone(lease: Lease | undefined): void;
  onFailed(error: Error): void;
  /** The connection has ended. Adapters may still work on requests in flight, until {@link onDone} or {@link onFailed}. */
  reject(error: Error): void;
}

/** Of operations that were begun earlier: they are posted first where they can be. */
export interface Ordered {
  readonly order: number;
}

export class MessageOperation extends Pending<void> implements Outgoing, Poster, Ordered {
  framedBytes = 0;
  readonly byteLength: number;
  #inFlight = 0;
  #isComplete = false;

  /** @param withdraw takes it out of the queue, as far as it was not sent */
  constructor(
    call: string,
    readonly order: number,
    readonly bytes: Uint8Array,
    private readonly withdraw: (message: MessageOperation) => void,
  ) {
    super(call);
    this.byteLength = bytes.byteLength;
  }

  /** Whether what is still to be sent of it is not there any more. */
  get isLost(): boolean {
    return isGone(this.bytes, this.byteLength);
  }

  wasPosted(isLast: boolean): void {
    this.#inFlight += 1;
    this.#isComplete = isLast;
  }

  onDone(): void {
    this.#inFlight -= 1;
    if (this.#isComplete && this.#inFlight === 0) this.resolve();
  }

  onFailed(error: Error): void {
    this.reject(error);
  }

  protected onGivenUp(): void {
    this.withdraw(this);
  }
}
