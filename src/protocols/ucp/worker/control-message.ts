import type { Endpoint as Transport, Packer, Waiting } from '../uct/index.js';
import { type AmId, type Format, UcsStatus } from '../wire/index.js';

/** A message that ends have for each other, with no data of programs. What it says is packed when there is room for it. */
export class ControlMessage<M> implements Waiting, Packer {
  /** @param onLeft it was handed over, or never will be */
  constructor(
    private readonly parts: { readonly transport: Transport },
    private readonly id: AmId,
    private readonly format: Format<M>,
    private readonly message: M,
    private readonly onLeft: () => void,
  ) {}

  retry(): UcsStatus {
    const status = this.parts.transport.amBcopy(this.id, this);
    if (status !== UcsStatus.UCS_ERR_NO_RESOURCE) this.onLeft();
    return status;
  }

  pack(into: Uint8Array): number {
    return this.format.encode(into, this.message);
  }
}
