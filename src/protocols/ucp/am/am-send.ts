import { partOf, Protocol } from '../protocol/index.js';
import type { Packer, Waiting } from '../uct/index.js';
import { type ValuesOf, viewOf } from '../../../device/wire/index.js';
import { AmFlags, AmId, Feet, Heads, PACKED_RKEY_BYTES, UcsStatus } from '../wire/index.js';
import type { EndpointParts } from '../worker/endpoint-parts.js';

const WHOLE_BYTES = Heads.AM_SINGLE_REPLY.bytes + Feet.AM_SINGLE_REPLY.bytes;
const FIRST_BYTES = Heads.AM_FIRST.bytes + Feet.AM_FIRST.bytes;
/** Short messages are packed here, unless they are longer: the transport has copied them when it returns. */
const scratch = new Uint8Array(256);
const scratchView = viewOf(scratch);
const packed = Array.from({ length: scratch.length + 1 }, (_, length) => scratch.subarray(0, length));
const ANNOUNCEMENT_BYTES = Heads.RNDV_RTS.bytes + PACKED_RKEY_BYTES;

/** Bytes that a message which goes as one has beside its data. @param header bytes of the program's */
export function amBeside(header: number): number {
  return WHOLE_BYTES + header;
}

/** Bytes that the longest header of a program's may have, so that it fits whichever message it goes with. */
export function maxAmHeader(mostBytes: number): number {
  return mostBytes - Math.max(WHOLE_BYTES, FIRST_BYTES, ANNOUNCEMENT_BYTES);
}

export function amHeadOf(amId: number, header: Uint8Array, isReply: boolean): ValuesOf<typeof Heads.AM_SINGLE> {
  return { amId, flags: isReply ? AmFlags.REPLY : 0, headerBytes: header.length };
}

interface Whole {
  readonly head: ValuesOf<typeof Heads.AM_SINGLE>;
  readonly header: Uint8Array;
  readonly data: Uint8Array;
  /** Bytes of the data, be it there or not. */
  readonly total: number;
  readonly isReply: boolean;
}

/** @returns its bytes */
function packWhole(into: Uint8Array, view: DataView, epId: number, whole: Whole): number {
  const { head, header, data, total, isReply } = whole;
  let at = Heads.AM_SINGLE.write(view, 0, head);
  into.set(partOf(data, 0, total), at);
  at += total;
  if (head.headerBytes > 0) into.set(partOf(header, 0, head.headerBytes), at);
  at += head.headerBytes;
  return isReply ? Feet.AM_SINGLE_REPLY.write(view, at, { epId }) : at;
}

/** @param whole of no more bytes than fit the request itself. @returns the transport's status */
function handOver({ transport, epId }: EndpointParts, whole: Whole): UcsStatus {
  const id = whole.isReply ? AmId.AM_SINGLE_REPLY : AmId.AM_SINGLE;
  const bytes = amBeside(whole.head.headerBytes) + whole.total;
  if (bytes <= scratch.length)
    return transport.amShort(id, NOTHING, packed[packWhole(scratch, scratchView, epId, whole)]);
  const into = new Uint8Array(bytes);
  return transport.amShort(id, NOTHING, into.subarray(0, packWhole(into, viewOf(into), epId, whole)));
}

/**
 * Sends a message that fits the request itself, without a note of it.
 *
 * @returns false where it cannot go now: an {@link AmSend} waits, or says why
 */
export function sendShort(
  parts: EndpointParts,
  amId: number,
  header: Uint8Array,
  data: Uint8Array,
  isReply: boolean,
): boolean {
  const whole = { head: amHeadOf(amId, header, isReply), header, data, total: data.length, isReply };
  return handOver(parts, whole) === UcsStatus.UCS_OK;
}

/** An active message on its way to the transport, before the receiver has asked for it. Header and data lie as UCX has them: the header behind the data. */
export class AmSend implements Waiting, Packer {
  /** Is told once it was handed over, or cannot be, unless {@link begin} says so. */
  onSent: (status: UcsStatus) => void = () => undefined;
  readonly #head: ValuesOf<typeof Heads.AM_SINGLE>;
  readonly #messageId: number;
  readonly #total: number;
  #data: Uint8Array;
  #from = 0;
  #sentBytes = 0;
  #hasBegun = false;
  #isGivenUp = false;

  /** @param protocol an eager one */
  constructor(
    private readonly parts: EndpointParts,
    amId: number,
    private readonly header: Uint8Array,
    data: Uint8Array,
    private readonly isReply: boolean,
    private readonly protocol: Protocol,
  ) {
    this.#head = amHeadOf(amId, header, isReply);
    this.#data = data;
    this.#total = data.length;
    this.#messageId = protocol === Protocol.BCOPY_MULTI ? parts.worker.nextNumber() : 0;
  }

  /** @returns UCS_INPROGRESS when {@link onSent} will be told */
  begin(): UcsStatus {
    const status = this.#send();
    if (status !== UcsStatus.UCS_ERR_NO_RESOURCE) return status;
    this.parts.awaitRoom(this);
    return UcsStatus.UCS_INPROGRESS;
  }

  /** The program has its data back. What was begun goes on with a copy of the rest. */
  giveUp(): void {
    this.#isGivenUp = true;
    if (!this.#hasBegun) return;
    this.#data = partOf(this.#data, this.#sentBytes - this.#from, this.#total - this.#from).slice();
    this.#from = this.#sentBytes;
  }

  retry(): UcsStatus {
    if (this.#isGivenUp && !this.#hasBegun) return UcsStatus.UCS_OK;
    const status = this.#send();
    if (status !== UcsStatus.UCS_ERR_NO_RESOURCE) this.onSent(status);
    return status;
  }

  pack(into: Uint8Array): number {
    if (this.protocol !== Protocol.BCOPY_MULTI) return packWhole(into, viewOf(into), this.parts.epId, this.#whole);
    return this.#hasBegun ? this.#packMiddle(into) : this.#packFirst(into);
  }

  #send(): UcsStatus {
    const { transport } = this.parts;
    if (this.protocol === Protocol.SHORT) return handOver(this.parts, this.#whole);
    const whole = this.isReply ? AmId.AM_SINGLE_REPLY : AmId.AM_SINGLE;
    if (this.protocol !== Protocol.BCOPY_MULTI) return transport.amBcopy(whole, this);
    return this.parts.worker.engine.inPass(() => this.#sendParts());
  }

  #sendParts(): UcsStatus {
    const { transport } = this.parts;
    while (!this.#hasBegun || this.#sentBytes < this.#total) {
      const status = transport.amBcopy(this.#hasBegun ? AmId.AM_MIDDLE : AmId.AM_FIRST, this);
      if (status !== UcsStatus.UCS_OK) return status;
    }
    return UcsStatus.UCS_OK;
  }

  get #whole(): Whole {
    return { head: this.#head, header: this.header, data: this.#data, total: this.#total, isReply: this.isReply };
  }

  #packFirst(into: Uint8Array): number {
    const view = viewOf(into);
    let at = Heads.AM_FIRST.write(view, 0, this.#head);
    at += this.#packPart(into, at, this.#head.headerBytes + Feet.AM_FIRST.bytes);
    at = this.#packHeader(into, at);
    this.#hasBegun = true;
    return Feet.AM_FIRST.write(view, at, {
      messageId: this.#messageId,
      epId: this.parts.epId,
      total: this.#total,
    });
  }

  #packMiddle(into: Uint8Array): number {
    const view = viewOf(into);
    let at = Heads.AM_MIDDLE.write(view, 0, { offset: this.#sentBytes });
    at += this.#packPart(into, at, Feet.AM_MIDDLE.bytes);
    return Feet.AM_MIDDLE.write(view, at, { messageId: this.#messageId, epId: this.parts.epId });
  }

  /** @returns where it ends */
  #packHeader(into: Uint8Array, at: number): number {
    const { headerBytes } = this.#head;
    into.set(partOf(this.header, 0, headerBytes), at);
    return at + headerBytes;
  }

  /** As much data as there is room for. @param behind bytes that come behind it. @returns its bytes */
  #packPart(into: Uint8Array, at: number, behind: number): number {
    const begin = this.#sentBytes - this.#from;
    const part = partOf(this.#data, begin, Math.min(begin + into.length - at - behind, this.#total - this.#from));
    into.set(part, at);
    this.#sentBytes += part.length;
    return part.length;
  }
}

const NOTHING = new Uint8Array(0);
