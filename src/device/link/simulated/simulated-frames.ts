import { Errno } from '../../ibta/index.js';
import type { FramePort } from '../link.js';
import { ETHERNET_HEADER_BYTES, ipUdpBytes } from './packet.js';
import type { SimulatedLink } from './simulated-link.js';
import type { SimulatedNetwork } from './simulated-network.js';

/** A simulated host's way for Ethernet frames. */
export class SimulatedFrames implements FramePort {
  readonly maxFrameBytes: number;
  #open = true;

  constructor(
    private readonly network: SimulatedNetwork,
    private readonly link: SimulatedLink,
    private readonly onClose: () => void,
  ) {
    this.maxFrameBytes = ETHERNET_HEADER_BYTES + ipUdpBytes(link.ipv6) + link.maxPacketBytes;
  }

  get mac(): Uint8Array {
    return this.link.mac;
  }

  send(bytes: Uint8Array, offset: number, lengthBytes: number): number {
    if (!this.#open) return Errno.ENETDOWN;
    if (lengthBytes < ETHERNET_HEADER_BYTES) return Errno.EINVAL;
    if (lengthBytes > this.maxFrameBytes) return Errno.EMSGSIZE;
    this.network.sendFrame(this.link, bytes.slice(offset, offset + lengthBytes));
    return 0;
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.onClose();
  }
}
