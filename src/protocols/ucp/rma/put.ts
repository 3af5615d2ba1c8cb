import { partOf } from '../protocol/index.js';
import type { Memory, Packer } from '../uct/index.js';
import { AmId, Heads, UcsStatus } from '../wire/index.js';
import type { Answers } from './answers.js';
import { roomBehind, sendMessage, RmaTransfer, type RmaWay } from './operation.js';
import type { RemoteBytes } from './memory.js';

/** Bytes that go into a peer's memory, by the transport's own means: in the request itself, by buffers, or from where they lie. */
export class DevicePut extends RmaTransfer implements Packer {
  #sentBytes = 0;
  readonly #size: number;

  /** @param lent undefined to have it copied */
  constructor(
    way: RmaWay,
    private readonly data: Uint8Array,
    private readonly to: RemoteBytes,
    lent: Memory | undefined,
  ) {
    super('put', way, lent);
    this.#size = data.length;
  }

  pack(into: Uint8Array): number {
    const part = partOf(this.data, this.#sentBytes, Math.min(this.#sentBytes + into.length, this.#size));
    into.set(part);
    this.#sentBytes += part.length;
    return part.length;
  }

  protected override send(): UcsStatus {
    while (this.#sentBytes < this.#size) {
      const status = this.began(this.#next());
      if (status !== UcsStatus.UCS_OK) return status;
    }
    return UcsStatus.UCS_OK;
  }

  #next(): UcsStatus {
    const { transport } = this.way.parts;
    const { put } = transport.capabilities;
    const { lent } = this;
    const size = this.#size;
    const at = { address: this.to.address + BigInt(this.#sentBytes), rkey: this.to.rkey };
    if (lent !== undefined) {
      const length = Math.min(size - this.#sentBytes, put.zcopy);
      const status = transport.putZcopy({ memory: lent, offset: this.#sentBytes, length: length }, at, this);
      if (status === UcsStatus.UCS_OK || status === UcsStatus.UCS_INPROGRESS) this.#sentBytes += length;
      return status;
    }
    if (size > put.short) return transport.putBcopy(this, at);
    const status = transport.putShort(partOf(this.data, 0, size), at);
    if (status === UcsStatus.UCS_OK) this.#sentBytes = size;
    return status;
  }
}

/** The same by messages, each of which the peer confirms. */
export class MessagePut extends RmaTransfer {
  #sentBytes = 0;
  readonly #size: number;

  constructor(
    way: RmaWay,
    private readonly data: Uint8Array,
    private readonly to: RemoteBytes,
    private readonly answers: Answers,
  ) {
    super('put', way);
    this.#size = data.length;
  }

  protected override send(): UcsStatus {
    const { transport } = this.way.parts;
    const { data, to, answers } = this;
    const size = this.#size;
    const room = roomBehind(transport, Heads.PUT);
    while (this.#sentBytes < size) {
      if (answers.isFull) return UcsStatus.UCS_ERR_BUSY;
      const head = { address: to.messageAddress(this.#sentBytes), epId: answers.epId, memoryType: 0 };
      const part = partOf(data, this.#sentBytes, Math.min(this.#sentBytes + room, size));
      const status = sendMessage(transport, AmId.PUT, Heads.PUT.encode(head), part);
      if (status !== UcsStatus.UCS_OK) return status;
      this.#sentBytes += part.length;
      answers.expectCompletion(this.epoch);
    }
    return UcsStatus.UCS_OK;
  }
}
