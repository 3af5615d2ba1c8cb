import type { FullAddress } from '../../../api/rdmacm/index.js';
import { hostInHeader, portInHeader } from '../wire/index.js';

/** A datagram that waits to be read. */
export interface Arrival {
  readonly payload: Uint8Array;
  readonly from: FullAddress;
  /** The receive buffer that it lies in; -1 for what came by UDP, which has memory of its own. */
  readonly slot: number;
}

/** One that lies in a receive buffer. Who has sent it is found out for who asks. */
export class ReceivedDatagram implements Arrival {
  constructor(
    private readonly bytes: Uint8Array,
    private readonly headerBytes: number,
    readonly slot: number,
  ) {}

  get payload(): Uint8Array {
    return this.bytes.subarray(this.headerBytes);
  }

  get from(): FullAddress {
    return { host: hostInHeader(this.bytes), port: portInHeader(this.bytes) };
  }
}
