import type { Completion, Endpoint as Transport, Memory } from '../uct/index.js';
import { UcsStatus, type AmId } from '../wire/index.js';
import { UcpError, UcpPending } from '../worker/errors.js';
import type { EndpointParts } from '../worker/endpoint-parts.js';
import type { Epoch, EpochTracker } from './epoch-tracker.js';
import type { Operation } from './operation-queue.js';

export interface RmaWay {
  readonly parts: EndpointParts;
  readonly epochs: EpochTracker;
}

/**
 * An operation on memory of the peer's: some requests of a transport, or messages. It ends when all that it has begun has ended; only then is it
 * done for those who wait for a flush. Its program may have been told before.
 */
export abstract class RmaOperation<T> extends UcpPending<T> implements Operation, Completion {
  protected readonly epoch: Epoch;
  /** What has not ended of it, its being handed over included. */
  #underWay = 1;
  #isGivenUp = false;
  #failure: UcsStatus | undefined;

  constructor(
    call: string,
    protected readonly way: RmaWay,
  ) {
    super(call);
    this.epoch = way.epochs.begin();
  }

  step(): UcsStatus {
    const status = this.#isGivenUp ? UcsStatus.UCS_ERR_CANCELED : this.send();
    if (status === UcsStatus.UCS_ERR_NO_RESOURCE || status === UcsStatus.UCS_ERR_BUSY) return status;
    if (status === UcsStatus.UCS_OK) this.onHandedOver();
    this.onComplete(status);
    return status;
  }

  onComplete(status: UcsStatus): void {
    if (status !== UcsStatus.UCS_OK) this.#failure ??= status;
    this.#underWay -= 1;
    if (this.#underWay > 0) return;
    this.onNothingUnderWay();
    if (this.#failure === undefined) this.onDone();
    else this.reject(this.way.parts.failureOf(this.call) ?? new UcpError(this.call, this.#failure));
    this.way.epochs.end(this.epoch);
  }

  /** Hands over as much as there is room for. @returns as a step; UCS_OK when that was all */
  protected abstract send(): UcsStatus;

  protected onHandedOver(): void {
    // Most are done only when they have ended.
  }

  protected abstract onDone(): void;

  /** Nobody uses the program's memory any more. */
  protected onNothingUnderWay(): void {
    // Most use none.
  }

  protected override onGivenUp(): void {
    this.#isGivenUp = true;
  }

  /** What a call to the transport returned: {@link onComplete} will be told of what is under way. @returns UCS_OK for that */
  protected began(status: UcsStatus): UcsStatus {
    if (status !== UcsStatus.UCS_INPROGRESS) return status;
    this.#underWay += 1;
    return UcsStatus.UCS_OK;
  }
}

/** An operation that moves bytes. */
export abstract class RmaTransfer extends RmaOperation<void> {
  /** @param lent memory of the program that is registered for it, if any */
  constructor(
    call: string,
    way: RmaWay,
    protected readonly lent?: Memory,
  ) {
    super(call, way);
  }

  protected override onDone(): void {
    this.resolve();
  }

  protected override onNothingUnderWay(): void {
    this.lent?.deregister();
  }

  protected override onGivenUp(): void {
    super.onGivenUp();
    this.lent?.redirect();
  }
}

/** Bytes of data that a message has room for behind its fields. */
export function roomBehind(transport: Transport, layout: { readonly bytes: number }): number {
  return transport.capabilities.am.bcopy - layout.bytes;
}

/** Sends a message, short where that can be. */
export function sendMessage(transport: Transport, id: AmId, head: Uint8Array, data: Uint8Array): UcsStatus {
  if (head.length + data.length <= transport.capabilities.am.short) return transport.amShort(id, head, data);
  const pack = (into: Uint8Array): number => {
    into.set(head);
    into.set(data, head.length);
    return head.length + data.length;
  };
  return transport.amBcopy(id, { pack });
}
