import { putInto } from '../protocol/index.js';
import type { Memory } from '../uct/index.js';
import { AmId, Heads, UcsStatus } from '../wire/index.js';
import type { Answered, Answers } from './answers.js';
import { sendMessage, RmaTransfer, type RmaWay } from './operation.js';
import type { RemoteBytes } from './memory.js';

const NOTHING = new Uint8Array(0);

/** Bytes that come out of a peer's memory, by the transport's own means: by buffers, or to where they are to lie. */
export class DeviceGet extends RmaTransfer {
  readonly #size: number;
  #askedBytes = 0;

  /** @param lent undefined to have it copied */
  constructor(
    way: RmaWay,
    private readonly buffer: Uint8Array,
    private readonly from: RemoteBytes,
    lent: Memory | undefined,
  ) {
    super('get', way, lent);
    this.#size = buffer.length;
  }

  protected override send(): UcsStatus {
    while (this.#askedBytes < this.#size) {
      const status = this.#next();
      const now = this.began(status);
      if (now !== UcsStatus.UCS_OK) return now;
    }
    return UcsStatus.UCS_OK;
  }

  #next(): UcsStatus {
    const { transport } = this.way.parts;
    const { get } = transport.capabilities;
    const { lent, from } = this;
    const offset = this.#askedBytes;
    const at = { address: from.address + BigInt(offset), rkey: from.rkey };
    const length = Math.min(this.#size - offset, lent === undefined ? get.bcopy : get.zcopy);
    const status =
      lent === undefined
        ? transport.getBcopy(length, at, (bytes) => this.#fill(offset, bytes), this)
        : transport.getZcopy({ memory: lent, offset: offset, length: length }, at, this);
    if (status === UcsStatus.UCS_OK || status === UcsStatus.UCS_INPROGRESS) this.#askedBytes += length;
    return status;
  }

  #fill(offset: number, bytes: Uint8Array): void {
    if (!this.isSettled) putInto(this.buffer, bytes, offset);
  }
}

/** The same by messages. */
export class MessageGet extends RmaTransfer implements Answered {
  readonly #size: number;
  #receivedBytes = 0;

  constructor(
    way: RmaWay,
    private readonly buffer: Uint8Array,
    private readonly from: RemoteBytes,
    private readonly answers: Answers,
  ) {
    super('get', way);
    this.#size = buffer.length;
  }

  onData(payload: Uint8Array): string | undefined {
    const left = this.#size - this.#receivedBytes;
    if (payload.length === 0 || payload.length > left)
      return `${payload.length} bytes come of a get, of which ${left} are left`;
    if (!this.isSettled) putInto(this.buffer, payload, this.#receivedBytes);
    this.#receivedBytes += payload.length;
    return undefined;
  }

  get isAnswered(): boolean {
    return this.#receivedBytes === this.#size;
  }

  protected override send(): UcsStatus {
    const { from, answers } = this;
    if (answers.isFull) return UcsStatus.UCS_ERR_BUSY;
    const { epId, nextRequestId: requestId } = answers;
    const head = { address: from.messageAddress(0), length: this.#size, epId, requestId, memoryType: 0 };
    const status = sendMessage(this.way.parts.transport, AmId.GET_REQ, Heads.GET_REQ.encode(head), NOTHING);
    if (status !== UcsStatus.UCS_OK) return status;
    answers.expect(requestId, this);
    return this.began(UcsStatus.UCS_INPROGRESS);
  }
}
