/**
 * Messages for `sendmsg`, `recvmsg` and their many-at-a-time forms: an array of `struct mmsghdr`, each with one buffer, room
 * for an address and room for ancillary data, laid out once so that a call needs only numbers stored.
 */
import { NativeBlock } from '../memory/memory.js';
import { SOCKADDR_BYTES } from './socket.js';

/** `struct mmsghdr` and what is used of it; the same on every 64-bit Linux. */
const HEADER_BYTES = 64;
const NAME = 0;
const NAME_LENGTH = 8;
const IOV = 16;
const IOV_COUNT = 24;
const CONTROL = 32;
const CONTROL_LENGTH = 40;
const FLAGS = 48;
const LENGTH = 56;

const IOV_BYTES = 16;

/** Header bytes of an ancillary message: length (8), level, type. Data follows, padded to 8. */
const ANCILLARY_HEADER_BYTES = 16;
export const ANCILLARY_BYTES = 24;

/** The flag of a message that was longer than its buffer. */
export const MSG_TRUNC = 0x20;

export class MessageBlock {
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  readonly #block: NativeBlock;
  readonly #names: number;
  readonly #controls: number;

  /**
   * @param count messages
   * @param controlBytes room for ancillary data of each, a multiple of 8
   */
  constructor(
    readonly count: number,
    readonly controlBytes: number,
  ) {
    const iovs = count * HEADER_BYTES;
    this.#names = iovs + count * IOV_BYTES;
    this.#controls = this.#names + count * SOCKADDR_BYTES;
    const block = new NativeBlock(this.#controls + count * controlBytes);
    this.#block = block;
    this.bytes = block.bytes;
    this.words = block.words;
    for (let i = 0; i < count; i += 1) {
      const header = i * HEADER_BYTES;
      block.putPointer(header + NAME, block.address + this.nameOffset(i));
      block.putPointer(header + IOV, block.address + iovs + i * IOV_BYTES);
      block.putPointer(header + IOV_COUNT, 1);
      block.putPointer(header + CONTROL, block.address + this.controlOffset(i));
    }
  }

  /** Of the `i`-th message and all that follow it. */
  address(i: number): number {
    return this.#block.address + i * HEADER_BYTES;
  }

  /** Where the address lies in {@link bytes}. */
  nameOffset(i: number): number {
    return this.#names + i * SOCKADDR_BYTES;
  }

  /** Where the ancillary data lies in {@link bytes}. */
  controlOffset(i: number): number {
    return this.#controls + i * this.controlBytes;
  }

  setBuffer(i: number, address: number): void {
    this.#block.putPointer(this.count * HEADER_BYTES + i * IOV_BYTES, address);
  }

  setBufferLength(i: number, lengthBytes: number): void {
    this.words[(this.count * HEADER_BYTES + i * IOV_BYTES + 8) >> 2] = lengthBytes;
  }

  setNameLength(i: number, lengthBytes: number): void {
    this.words[(i * HEADER_BYTES + NAME_LENGTH) >> 2] = lengthBytes;
  }

  /** Which part of the room for ancillary data is in use. */
  setControl(i: number, skipBytes: number, lengthBytes: number): void {
    this.#block.putPointer(i * HEADER_BYTES + CONTROL, this.#block.address + this.controlOffset(i) + skipBytes);
    this.setControlLength(i, lengthBytes);
  }

  setControlLength(i: number, lengthBytes: number): void {
    this.words[(i * HEADER_BYTES + CONTROL_LENGTH) >> 2] = lengthBytes;
  }

  /** Bytes of ancillary data that came with a message. */
  controlLength(i: number): number {
    return this.words[(i * HEADER_BYTES + CONTROL_LENGTH) >> 2];
  }

  flags(i: number): number {
    return this.words[(i * HEADER_BYTES + FLAGS) >> 2];
  }

  /** Bytes of a message, as a many-at-a-time call left them. */
  length(i: number): number {
    return this.words[(i * HEADER_BYTES + LENGTH) >> 2];
  }

  /** Writes the header of an ancillary message whose data is one number of `dataBytes` bytes. */
  writeAncillaryHeader(offset: number, level: number, type: number, dataBytes: number): void {
    this.words[offset >> 2] = ANCILLARY_HEADER_BYTES + dataBytes;
    this.words[(offset >> 2) + 1] = 0;
    this.words[(offset >> 2) + 2] = level;
    this.words[(offset >> 2) + 3] = type;
  }

  setAncillaryValue(offset: number, value: number): void {
    this.words[(offset + ANCILLARY_HEADER_BYTES) >> 2] = value;
  }
}
