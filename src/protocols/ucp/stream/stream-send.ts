import { partOf } from '../protocol/index.js';
import type { Packer, Waiting } from '../uct/index.js';
import { viewOf } from '../../../device/wire/index.js';
import { AmId, Heads, UcsStatus } from '../wire/index.js';
import type { EndpointParts } from '../worker/endpoint-parts.js';

/** Bytes of a stream on their way to the transport. */
export class StreamSend implements Waiting, Packer {
  /** Is told once all was handed over, or cannot be, unless {@link begin} says so. */
  onSent: (status: UcsStatus) => void = () => undefined;
  #data: Uint8Array;
  #from = 0;
  /** Bytes that are left. */
  #leftBytes: number;
  #hasBegun = false;
  #isGivenUp = false;

  constructor(
    private readonly parts: EndpointParts,
    data: Uint8Array,
  ) {
    this.#data = data;
    this.#leftBytes = data.length;
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
    if (!this.#hasBegun) return;
    this.#data = this.#part(this.#leftBytes).slice();
    this.#from = 0;
  }

  retry(): UcsStatus {
    if (this.#isGivenUp && !this.#hasBegun) return UcsStatus.UCS_OK;
    const status = this.#send();
    if (status !== UcsStatus.UCS_ERR_NO_RESOURCE) this.onSent(status);
    return status;
  }

  pack(into: Uint8Array): number {
    const at = Heads.STREAM_DATA.write(viewOf(into), 0, { epId: this.parts.epId });
    const part = this.#part(into.length - at);
    into.set(part, at);
    this.#sent(part.length);
    return at + part.length;
  }

  #send(): UcsStatus {
    const { transport, worker } = this.parts;
    const isOne = Heads.STREAM_DATA.bytes + this.#leftBytes <= transport.capabilities.am.short;
    return isOne ? this.#sendParts() : worker.engine.inPass(() => this.#sendParts());
  }

  #sendParts(): UcsStatus {
    const { transport, epId } = this.parts;
    const { short } = transport.capabilities.am;
    while (this.#leftBytes > 0) {
      const isShort = Heads.STREAM_DATA.bytes + this.#leftBytes <= short;
      const status = isShort ? this.#sendShort(epId) : transport.amBcopy(AmId.STREAM_DATA, this);
      if (status !== UcsStatus.UCS_OK) return status;
    }
    return UcsStatus.UCS_OK;
  }

  #sendShort(epId: number): UcsStatus {
    const head = new Uint8Array(Heads.STREAM_DATA.bytes);
    Heads.STREAM_DATA.write(viewOf(head), 0, { epId });
    const status = this.parts.transport.amShort(AmId.STREAM_DATA, head, this.#part(this.#leftBytes));
    if (status === UcsStatus.UCS_OK) this.#sent(this.#leftBytes);
    return status;
  }

  #sent(bytes: number): void {
    this.#hasBegun = true;
    this.#from += bytes;
    this.#leftBytes -= bytes;
  }

  #part(mostBytes: number): Uint8Array {
    return partOf(this.#data, this.#from, this.#from + Math.min(mostBytes, this.#leftBytes));
  }
}
