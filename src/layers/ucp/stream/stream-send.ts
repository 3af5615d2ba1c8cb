import type { Packer, Waiting } from '../uct/index.js';
import { AmId, Heads, UcsStatus, viewOf } from '../wire/index.js';
import type { EndpointParts } from '../worker/endpoint-parts.js';

/** Bytes of a stream on their way to the transport. */
export class StreamSend implements Waiting, Packer {
  /** Is told once all was handed over, or cannot be, unless {@link begin} says so. */
  onSent: (status: UcsStatus) => void = () => undefined;
  /** What is left to send. */
  #left: Uint8Array;
  #hasBegun = false;
  #isGivenUp = false;

  constructor(
    private readonly parts: EndpointParts,
    data: Uint8Array,
  ) {
    this.#left = data;
  }

  /** @returns UCS_INPROGRESS when {@link onSent} will be told */
  begin(): UcsStatus {
    const status = this.#send();
    if (status !== UcsStatus.UCS_ERR_NO_RESOURCE) return status;
    this.parts.awaitRoom(this);
    return UcsStatus.UCS_INPROGRESS;
  }

  /** The program has its data back. What was begun goes on with a copy of the rest: a stream without it would make no sense. */
  giveUp(): void {
    this.#isGivenUp = true;
    if (this.#hasBegun) this.#left = this.#left.slice();
  }

  retry(): UcsStatus {
    if (this.#isGivenUp && !this.#hasBegun) return UcsStatus.UCS_OK;
    const status = this.#send();
    if (status !== UcsStatus.UCS_ERR_NO_RESOURCE) this.onSent(status);
    return status;
  }

  pack(into: Uint8Array): number {
    const at = Heads.STREAM_DATA.encode(viewOf(into), 0, { epId: this.parts.epId });
    const part = this.#left.subarray(0, into.length - at);
    into.set(part, at);
    this.#sent(part.length);
    return at + part.length;
  }

  #send(): UcsStatus {
    const { transport, epId } = this.parts;
    const { short } = transport.capabilities.am;
    while (this.#left.length > 0) {
      const isShort = Heads.STREAM_DATA.bytes + this.#left.length <= short;
      const status = isShort ? this.#sendShort(epId) : transport.amBcopy(AmId.STREAM_DATA, this);
      if (status !== UcsStatus.UCS_OK) return status;
    }
    return UcsStatus.UCS_OK;
  }

  #sendShort(epId: number): UcsStatus {
    const head = new Uint8Array(Heads.STREAM_DATA.bytes);
    Heads.STREAM_DATA.encode(viewOf(head), 0, { epId });
    const status = this.parts.transport.amShort(AmId.STREAM_DATA, head, this.#left);
    if (status === UcsStatus.UCS_OK) this.#sent(this.#left.length);
    return status;
  }

  #sent(bytes: number): void {
    this.#hasBegun = true;
    this.#left = this.#left.subarray(bytes);
  }
}
