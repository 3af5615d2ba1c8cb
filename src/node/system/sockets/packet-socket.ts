/** Whole Ethernet frames by system calls (packet(7)). */
import { Descriptor } from '../descriptor.js';
import type { InterfaceFacts } from '../interfaces/interface.js';
import { NativeBlock } from '../memory/memory.js';
import { type NativeHost, requireNativeHost } from '../native.js';
import { MessageBlock, MSG_TRUNC } from './message-block.js';
import { adapterFilter, FILTER_STEP_BYTES } from './packet-filter.js';

const AF_PACKET = 17;
const SOCK_RAW = 3;
const SOCK_NONBLOCK = 0x800;
const SOCK_CLOEXEC = 0x80000;
/** ETH_P_ALL, in network order. */
const ALL_PROTOCOLS = 0x0300;
const SOL_SOCKET = 1;
const SO_ATTACH_FILTER = 26;
const SOL_PACKET = 263;
const PACKET_AUXDATA = 8;
const PROGRAM_HEADER_BYTES = 16;

/** `struct sockaddr_ll` as far as binding needs it. */
const SOCKADDR_LL_BYTES = 20;
/** The header of an ancillary message and a `struct tpacket_auxdata` of 20 bytes, padded to 8. */
const CONTROL_BYTES = 40;
const AUX = 16;
const AUX_VLAN_TCI = AUX + 16;
const AUX_VLAN_TPID = AUX + 18;
const VLAN_VALID = 0x10;

const MACS_BYTES = 12;
const VLAN_TAG_BYTES = 4;
/** Where frames are received: in front of it there is room for a tag. */
const FRAME_AT = 8;
/** Interfaces join segments, so that frames can be longer than they carry. */
const BUFFER_BYTES = 65536 + 256;

/**
 * Sends and receives frames as an adapter on the interface would: those for its own address, for all, and for groups, and
 * not what the machine itself sends. VLAN tags are where they were on the wire.
 */
export class PacketSocket {
  readonly fd: number;
  /** The frame last received; scratch after the next {@link receive}. */
  readonly bytes: Uint8Array;
  /** Where it begins in {@link bytes}. */
  offset = FRAME_AT;
  readonly #native: NativeHost;
  readonly #descriptor: Descriptor;
  readonly #received = new NativeBlock(BUFFER_BYTES);
  readonly #messages = new MessageBlock(1, CONTROL_BYTES);
  readonly #sent: NativeBlock;
  #open = true;

  /**
   * @param exceptUdpPort frames of UDP to this port are not received
   * @throws SystemCallError (`EPERM` without CAP_NET_RAW)
   */
  constructor(
    face: InterfaceFacts,
    readonly maxFrameBytes: number,
    exceptUdpPort: number,
  ) {
    this.#native = requireNativeHost();
    this.#sent = new NativeBlock(maxFrameBytes);
    this.bytes = this.#received.bytes;
    const { libc } = this.#native;
    // Of no protocol, so that nothing arrives before the filter is there.
    const fd = libc.socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) throw this.#native.failure('socket');
    this.#descriptor = new Descriptor(this.#native, fd);
    this.fd = this.#descriptor.fd;
    try {
      this.#attachFilter(exceptUdpPort);
      this.#askForTags();
      this.#bind(face.index);
    } catch (error) {
      this.close();
      throw error;
    }
    this.#messages.setBuffer(0, this.#received.address + FRAME_AT);
    this.#messages.setBufferLength(0, BUFFER_BYTES - FRAME_AT);
  }

  #attachFilter(udpPort: number): void {
    const filter = adapterFilter(udpPort);
    // `struct sock_fprog`: how many steps, and where they are, which is behind it.
    const program = new NativeBlock(PROGRAM_HEADER_BYTES + filter.length);
    program.bytes.set(filter, PROGRAM_HEADER_BYTES);
    program.words[0] = filter.length / FILTER_STEP_BYTES;
    program.putPointer(8, program.address + PROGRAM_HEADER_BYTES);
    const { libc } = this.#native;
    if (libc.setsockopt(this.fd, SOL_SOCKET, SO_ATTACH_FILTER, program.address, PROGRAM_HEADER_BYTES) < 0) {
      throw this.#native.failure('setsockopt');
    }
  }

  #askForTags(): void {
    const value = new NativeBlock(8);
    value.words[0] = 1;
    this.#native.libc.setsockopt(this.fd, SOL_PACKET, PACKET_AUXDATA, value.address, 4);
  }

  #bind(interfaceIndex: number): void {
    const address = new NativeBlock(SOCKADDR_LL_BYTES);
    address.words[0] = AF_PACKET | (ALL_PROTOCOLS << 16);
    address.words[1] = interfaceIndex;
    if (this.#native.libc.bind(this.fd, address.address, SOCKADDR_LL_BYTES) < 0) throw this.#native.failure('bind');
  }

  /**
   * Takes one frame into {@link bytes} at {@link offset}, without waiting.
   *
   * @returns its length, 0 for one that was longer than the buffer and is lost, or -1 when there is none
   */
  receive(): number {
    const messages = this.#messages;
    messages.setControlLength(0, CONTROL_BYTES);
    const length = this.#native.libc.recvmsg(this.fd, messages.address(0), 0);
    if (length < 0) return -1;
    if ((messages.flags(0) & MSG_TRUNC) !== 0) return 0;
    this.offset = FRAME_AT;
    return length + this.#putTagBack(length);
  }

  /** The kernel takes a VLAN tag out of the frame and tells it beside. @returns how many bytes the frame grew by */
  #putTagBack(length: number): number {
    const messages = this.#messages;
    const control = messages.controlOffset(0);
    const { bytes, words } = messages;
    if (messages.controlLength(0) < AUX_VLAN_TPID + 2 || length < MACS_BYTES) return 0;
    if (words[(control + 8) >> 2] !== SOL_PACKET || words[(control + 12) >> 2] !== PACKET_AUXDATA) return 0;
    if ((words[(control + AUX) >> 2] & VLAN_VALID) === 0) return 0;
    const frame = this.bytes;
    frame.copyWithin(FRAME_AT - VLAN_TAG_BYTES, FRAME_AT, FRAME_AT + MACS_BYTES);
    // Numbers of this machine, which is little-endian; the wire's order is the other one.
    const tag = FRAME_AT - VLAN_TAG_BYTES + MACS_BYTES;
    frame[tag] = bytes[control + AUX_VLAN_TPID + 1];
    frame[tag + 1] = bytes[control + AUX_VLAN_TPID];
    frame[tag + 2] = bytes[control + AUX_VLAN_TCI + 1];
    frame[tag + 3] = bytes[control + AUX_VLAN_TCI];
    this.offset = FRAME_AT - VLAN_TAG_BYTES;
    return VLAN_TAG_BYTES;
  }

  /** Sends a frame of up to {@link maxFrameBytes}. @returns 0, or the number of the errno */
  send(bytes: Uint8Array, offset: number, lengthBytes: number): number {
    const out = this.#sent;
    for (let i = 0; i < lengthBytes; i += 1) out.bytes[i] = bytes[offset + i];
    const sent = this.#native.libc.sendto(this.fd, out.address, lengthBytes, 0, 0, 0);
    return sent < 0 ? this.#native.errno() : 0;
  }

  /** Idempotent. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#descriptor.close();
  }
}
