/** Ethernet frames beside a UDP link, by a packet socket on its interface. */
import { Errno } from '../../../device/ibta/index.js';
import { codeOf, errnoNameOf, type FramePort, LinkError, type PacketReceiver } from '../../../device/link/index.js';
import { ROCE_PORT } from '../../../device/wire/index.js';
import { type InterfaceFacts, interfaceFacts, PacketSocket } from '../../system/index.js';
import type { LocalAddress } from './udp-address.js';

export const ETHERNET_HEADER_BYTES = 14;

export class FrameCounts {
  sent = 0;
  sendErrors = 0;
  received = 0;
  /** Dropped because they were longer than any that there should be. */
  truncated = 0;
}

export class UdpFrames implements FramePort {
  readonly mac: Uint8Array;
  readonly maxFrameBytes: number;
  readonly fd: number;
  readonly #socket: PacketSocket;
  #open = true;

  private constructor(
    face: InterfaceFacts,
    private readonly counts: FrameCounts,
    private readonly onClose: () => void,
  ) {
    this.mac = face.mac;
    this.maxFrameBytes = face.mtuBytes + ETHERNET_HEADER_BYTES;
    // What holds RoCEv2 comes by the link's own socket.
    this.#socket = new PacketSocket(face, this.maxFrameBytes, ROCE_PORT);
    this.fd = this.#socket.fd;
  }

  /**
   * @param onClose called once when the port is closed
   * @throws LinkError
   */
  static open({ text, interfaceName }: LocalAddress, counts: FrameCounts, onClose: () => void): UdpFrames {
    const face = interfaceName === undefined ? undefined : interfaceFacts(interfaceName);
    if (interfaceName === undefined || face === undefined) {
      throw new LinkError('EOPNOTSUPP', `no network interface is known for ${text}, so there are no Ethernet frames.`);
    }
    try {
      return new UdpFrames(face, counts, onClose);
    } catch (error) {
      throw frameError(interfaceName, error);
    }
  }

  send(bytes: Uint8Array, offset: number, lengthBytes: number): number {
    if (!this.#open) return Errno.ENETDOWN;
    const errno = this.#send(bytes, offset, lengthBytes);
    if (errno === 0) this.counts.sent += 1;
    else this.counts.sendErrors += 1;
    return errno;
  }

  #send(bytes: Uint8Array, offset: number, lengthBytes: number): number {
    if (lengthBytes < ETHERNET_HEADER_BYTES) return Errno.EINVAL;
    if (lengthBytes > this.maxFrameBytes) return Errno.EMSGSIZE;
    return this.#socket.send(bytes, offset, lengthBytes);
  }

  /** Hands over what has arrived. @returns how many frames */
  receive(receiver: PacketReceiver, maxFrames: number): number {
    const socket = this.#socket;
    let taken = 0;
    let frames = 0;
    // A receiver may close the port.
    while (this.#open && taken < maxFrames) {
      const length = socket.receive();
      if (length < 0) break;
      taken += 1;
      if (length === 0) {
        this.counts.truncated += 1;
        continue;
      }
      frames += 1;
      this.counts.received += 1;
      receiver.receiveFrame?.(socket.bytes, socket.offset, length);
    }
    return frames;
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#socket.close();
    this.onClose();
  }
}

function frameError(name: string, cause: unknown): LinkError {
  const code = codeOf(cause);
  if (code === 'EPERM' || code === 'EACCES') {
    const rights = 'run as root, or give node the capability CAP_NET_RAW';
    return new LinkError('EPERM', `this process may not send and receive Ethernet frames on ${name}: ${rights}.`, {
      cause,
    });
  }
  return new LinkError(errnoNameOf(code), `Ethernet frames on ${name} cannot be had: ${code || String(cause)}.`, {
    cause,
  });
}
