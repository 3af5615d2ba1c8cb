import { UcsStatus } from '../wire/index.js';
import type { EndpointParts } from './endpoint-parts.js';
import { UcpError } from './errors.js';
import { UcpPending } from './waiting.js';

/** A send that a program waits for. */
export class PostedSend extends UcpPending<void> {
  /** Has it given up by whoever sends it. */
  giveUp: () => void = () => undefined;
  #isGivenUp = false;

  constructor(
    call: string,
    private readonly parts: EndpointParts,
  ) {
    super(call);
  }

  readonly onDone = (status: UcsStatus): void => {
    if (this.isSettled || this.#isGivenUp) return;
    if (status === UcsStatus.UCS_OK) this.resolve();
    else this.reject(sendError(this.parts, this.call, status));
  };

  protected onGivenUp(): void {
    // Who sends it may end it by that: the program is told its own reason nevertheless.
    this.#isGivenUp = true;
    this.giveUp();
  }
}

/** A send that has ended once all of it was handed over, and a receive was found for it, which may be before. */
export class PostedSyncSend extends PostedSend {
  #left = 2;

  /** One of both. */
  readonly onHalf = (status: UcsStatus): void => {
    this.#left -= 1;
    if (status !== UcsStatus.UCS_OK || this.#left === 0) this.onDone(status);
  };
}

/** Why a send has failed. */
export function sendError(parts: EndpointParts, call: string, status: UcsStatus): UcpError {
  return parts.failureOf(call) ?? new UcpError(call, status);
}
