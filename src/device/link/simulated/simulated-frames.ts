import { Errno } from '../../ibta/index.js';
import type { FramePort } from '../link.js';
import type { Medium, Station } from './direction.js';
import { ETHERNET_HEADER_BYTES, ipUdpBytes } from './packet.js';

interface FrameSender extends Station {
  readonly ipv6: boolean;
  readonly maxPacketBytes: number;
}

/** A simulated host's way for Ethernet frames. */
export class SimulatedFrames implements FramePort {
  readonly maxFrameBytes: number;
  #open = true;

  constructor(
    private readonly medium: Medium,
    private readonly link: FrameSender,
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
    this.medium.sendFrame(this.link, bytes.slice(offset, offset + lengthBytes));
    return 0;
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.onClose();
  }
}
