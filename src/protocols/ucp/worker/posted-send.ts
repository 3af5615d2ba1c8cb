import { UcsStatus } from '../wire/index.js';
import type { EndpointParts } from './endpoint-parts.js';
import { UcpError, UcpPending } from './errors.js';
import type { WaitOptions } from '../../core/index.js';
import { packed, UcpTyped } from './datatype.js';
import { gathered, type UcpData } from './pieces.js';

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

  readonly onHalf = (status: UcsStatus): void => {
    this.#left -= 1;
    if (status !== UcsStatus.UCS_OK || this.#left === 0) this.onDone(status);
  };
}

export function sendError(parts: EndpointParts, call: string, status: UcsStatus): UcpError {
  return parts.failureOf(call) ?? new UcpError(call, status);
}

/**
 * The bytes that a program wants to send, in one piece: a copy, unless they are in one already.
 *
 * @param what of which `checkPieces` has nothing to say
 * @throws as `packed`; and as the call does before, where the program has ended the endpoint, or given up, while it packed
 */
export function bytesToSend(
  call: string,
  parts: EndpointParts,
  what: UcpData,
  options: WaitOptions | undefined,
): Uint8Array {
  if (!(what instanceof UcpTyped)) return gathered(what);
  const data = packed(call, what);
  options?.signal?.throwIfAborted();
  if (parts.failure !== undefined) throw sendError(parts, call, parts.failure);
  return data;
}
