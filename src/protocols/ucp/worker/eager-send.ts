import { partOf, Protocol } from '../protocol/index.js';
import type { Completion, Memory, Packer, Waiting } from '../uct/index.js';
import { type Struct, viewOf } from '../../../device/wire/index.js';
import { AmId, Heads, UcsStatus } from '../wire/index.js';
import type { EndpointParts } from './endpoint-parts.js';

/** What the first message of a send says, in whichever form. */
interface EagerHead {
  readonly tag: bigint;
  readonly total: number;
  readonly messageId: number;
  readonly epId: number;
  readonly requestId: number;
}

interface Form {
  readonly id: AmId;
  readonly head: Pick<Struct<EagerHead>, 'bytes' | 'write'>;
}

const ONLY: Form = { id: AmId.EAGER_ONLY, head: Heads.EAGER_ONLY };
const FIRST: Form = { id: AmId.EAGER_FIRST, head: Heads.EAGER_FIRST };
const SYNC_ONLY: Form = { id: AmId.EAGER_SYNC_ONLY, head: Heads.EAGER_SYNC_ONLY };
const SYNC_FIRST: Form = { id: AmId.EAGER_SYNC_FIRST, head: Heads.EAGER_SYNC_FIRST };

/** Bytes of the header of a message that goes as one. */
export function onlyHeadBytes(isSync: boolean): number {
  return (isSync ? SYNC_ONLY : ONLY).head.bytes;
}

/** A header, as long as it takes to hand it over. */
const scratch = new Uint8Array(SYNC_FIRST.head.bytes);
const scratchView = viewOf(scratch);
/** The same of a message that has no other fields. */
const tagBytes = new Uint8Array(ONLY.head.bytes);
const tagView = viewOf(tagBytes);

/**
 * Sends a message that fits the request itself, without a note of it.
 *
 * @returns false where it cannot go now: an {@link EagerSend} waits, or says why
 */
export function sendShort({ transport }: EndpointParts, data: Uint8Array, tag: bigint | number): boolean {
  tagView.setBigUint64(0, BigInt(tag), true);
  return transport.amShort(ONLY.id, tagBytes, partOf(data, 0, data.length)) === UcsStatus.UCS_OK;
}

/** A message on its way to the transport, before the receiver has asked for it. */
export class EagerSend implements Waiting, Packer, Completion {
  /** Is told once it was handed over, or cannot be, unless {@link begin} says so. */
  onSent: (status: UcsStatus) => void = () => undefined;
  readonly #head: EagerHead;
  readonly #form: Form;
  #data: Uint8Array;
  #from = 0;
  #sentBytes = 0;
  #memory: Memory | undefined;
  #hasBegun = false;
  #isGivenUp = false;

  /**
   * @param protocol an eager one
   * @param requestId for whom the receiver is to say that it has matched; 0 for nobody
   */
  constructor(
    private readonly parts: EndpointParts,
    data: Uint8Array,
    tag: bigint,
    private protocol: Protocol,
    requestId: number,
  ) {
    const { epId, worker } = parts;
    this.#data = data;
    if (protocol === Protocol.ZCOPY) {
      this.#memory = worker.domain.borrow(data);
      const isOne = data.length + onlyHeadBytes(requestId !== 0) <= parts.transport.capabilities.am.bcopy;
      if (this.#memory === undefined) this.protocol = isOne ? Protocol.BCOPY : Protocol.BCOPY_MULTI;
    }
    const isMulti = this.protocol === Protocol.BCOPY_MULTI;
    const messageId = isMulti ? worker.nextNumber() : 0;
    this.#head = { tag, total: data.length, messageId, epId, requestId };
    if (requestId === 0) this.#form = isMulti ? FIRST : ONLY;
    else this.#form = isMulti ? SYNC_FIRST : SYNC_ONLY;
  }

  /** @returns UCS_INPROGRESS when {@link onSent} will be told */
  begin(): UcsStatus {
    const status = this.#handOver();
    if (status !== UcsStatus.UCS_ERR_NO_RESOURCE) return status;
    this.parts.worker.counters.pending += 1;
    this.parts.transport.pendingAdd(this);
    return UcsStatus.UCS_INPROGRESS;
  }

  retry(): UcsStatus {
    if (this.#isGivenUp && !this.#hasBegun) {
      this.#release();
      this.onSent(UcsStatus.UCS_ERR_CANCELED);
      return UcsStatus.UCS_OK;
    }
    const status = this.#handOver();
    if (status !== UcsStatus.UCS_ERR_NO_RESOURCE && status !== UcsStatus.UCS_INPROGRESS) this.onSent(status);
    return status;
  }

  /** The program has its data back. What was begun goes on with a copy of the rest. @returns whether nothing of it was sent, or will be */
  giveUp(): boolean {
    this.#isGivenUp = true;
    if (!this.#hasBegun) return true;
    if (this.#memory === undefined) {
      this.#data = partOf(this.#data, this.#sentBytes - this.#from, this.#head.total - this.#from).slice();
      this.#from = this.#sentBytes;
    } else this.#memory.redirect();
    return false;
  }

  onComplete(status: UcsStatus): void {
    this.#release();
    this.onSent(status);
  }

  pack(into: Uint8Array): number {
    const view = viewOf(into);
    const offset = this.#sentBytes;
    const { messageId, total } = this.#head;
    const at =
      offset === 0
        ? this.#form.head.write(view, 0, this.#head)
        : Heads.EAGER_MIDDLE.write(view, 0, { messageId, offset });
    const begin = offset - this.#from;
    const part = partOf(this.#data, begin, Math.min(begin + into.length - at, total - this.#from));
    into.set(part, at);
    this.#sentBytes += part.length;
    return at + part.length;
  }

  #handOver(): UcsStatus {
    const status = this.#send();
    this.#hasBegun ||= status >= 0 || this.#sentBytes > 0;
    return status;
  }

  #send(): UcsStatus {
    const { protocol } = this;
    const { transport } = this.parts;
    const { id } = this.#form;
    const { total } = this.#head;
    if (protocol === Protocol.SHORT) return transport.amShort(id, this.#header(), partOf(this.#data, 0, total));
    if (protocol === Protocol.BCOPY) return transport.amBcopy(id, this);
    if (this.#memory !== undefined) return this.#sendMemory(this.#memory);
    // One system call sends all parts, and the receiver wakes up once for them.
    return this.parts.worker.engine.inPass(() => this.#sendParts());
  }

  #sendParts(): UcsStatus {
    const { transport } = this.parts;
    do {
      const status = transport.amBcopy(this.#sentBytes === 0 ? this.#form.id : AmId.EAGER_MIDDLE, this);
      if (status !== UcsStatus.UCS_OK) return status;
    } while (this.#sentBytes < this.#head.total);
    return UcsStatus.UCS_OK;
  }

  #sendMemory(memory: Memory): UcsStatus {
    const { total: length } = this.#head;
    const place = { memory, offset: 0, length };
    const status = this.parts.transport.amZcopy(this.#form.id, this.#header(), place, this);
    if (status === UcsStatus.UCS_INPROGRESS) this.#sentBytes = length;
    else if (status !== UcsStatus.UCS_ERR_NO_RESOURCE) this.#release();
    return status;
  }

  #header(): Uint8Array {
    return scratch.subarray(0, this.#form.head.write(scratchView, 0, this.#head));
  }

  #release(): void {
    this.#memory?.deregister();
    this.#memory = undefined;
  }
}
