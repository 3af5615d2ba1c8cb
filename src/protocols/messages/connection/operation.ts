import { Pending } from '../../core/index.js';
import type { Outgoing } from '../protocol/outgoing.js';
import { isGone } from './gone-memory.js';
import type { Poster, Slot } from './send-slots.js';

/** Of operations that were begun earlier: they are posted first where they can be. */
export interface Ordered {
  readonly order: number;
}

/** A message that a program sends. */
export class MessageOperation extends Pending<void> implements Outgoing, Poster, Ordered {
  framedBytes = 0;
  readonly byteLength: number;
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

  /** All of it was posted. */
  wasPosted(): void {
    this.#isComplete = true;
  }

  onDone({ offset, byteLength }: Slot): void {
    // Requests complete in their order, so all fragments before the last have.
    if (this.#isComplete && offset + byteLength === this.byteLength) this.resolve();
  }

  onFailed(_slot: Slot, error: Error): void {
    this.reject(error);
  }

  protected onGivenUp(): void {
    this.withdraw(this);
  }
}
