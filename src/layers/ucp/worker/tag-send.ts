import { Protocol } from '../protocol/index.js';
import type { Endpoint as Transport, Packer, Waiting } from '../uct/index.js';
import { AmId, Heads, UcsStatus, viewOf } from '../wire/index.js';

/** A message on its way to the transport. */
export class TagSend implements Waiting, Packer {
  readonly #messageId: number;
  #sentBytes = 0;
  #resolve: (status: UcsStatus) => void = () => undefined;

  /** @param protocol an eager one */
  constructor(
    private readonly transport: Transport,
    private readonly data: Uint8Array,
    private readonly tag: bigint,
    private readonly protocol: Protocol,
    numbers: { nextNumber(): number },
  ) {
    this.#messageId = protocol === Protocol.BCOPY_MULTI ? numbers.nextNumber() : 0;
  }

  /** Hands it over, as there is room. Resolves with why that was not possible, or UCS_OK. */
  done(): Promise<UcsStatus> {
    const status = this.#send();
    if (status !== UcsStatus.UCS_ERR_NO_RESOURCE) return Promise.resolve(status);
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.transport.pendingAdd(this);
    });
  }

  retry(): UcsStatus {
    const status = this.#send();
    if (status !== UcsStatus.UCS_ERR_NO_RESOURCE) this.#resolve(status);
    return status;
  }

  /** Packs what goes next of it. */
  pack(into: Uint8Array): number {
    const view = viewOf(into);
    const { tag, data } = this;
    const [total, messageId, offset] = [data.length, this.#messageId, this.#sentBytes];
    let at: number;
    if (this.protocol !== Protocol.BCOPY_MULTI) at = Heads.EAGER_ONLY.encode(view, 0, { tag });
    else if (offset === 0) at = Heads.EAGER_FIRST.encode(view, 0, { tag, total, messageId });
    else at = Heads.EAGER_MIDDLE.encode(view, 0, { messageId, offset });
    const part = data.subarray(offset, offset + into.length - at);
    into.set(part, at);
    this.#sentBytes += part.length;
    return at + part.length;
  }

  #send(): UcsStatus {
    const { transport, protocol } = this;
    if (protocol === Protocol.SHORT) {
      const header = new Uint8Array(Heads.EAGER_ONLY.bytes);
      Heads.EAGER_ONLY.encode(viewOf(header), 0, { tag: this.tag });
      return transport.amShort(AmId.EAGER_ONLY, header, this.data);
    }
    if (protocol === Protocol.BCOPY) return transport.amBcopy(AmId.EAGER_ONLY, this);
    while (this.#sentBytes < this.data.length) {
      const status = transport.amBcopy(this.#sentBytes === 0 ? AmId.EAGER_FIRST : AmId.EAGER_MIDDLE, this);
      if (status !== UcsStatus.UCS_OK) return status;
    }
    return UcsStatus.UCS_OK;
  }
}
