/** Reading pcapng files (https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-02.html). */
import { readU16, readU32 } from '../bytes.js';
import { CaptureError, type CaptureFormat, Direction, type FrameCursor, NS_PER_SECOND } from './capture-format.js';
import { PcapngBlock, PcapngOption, SECTION_BYTE_ORDER_MAGIC } from './pcapng.js';

const MIN_BLOCK_BYTES = 12;
const MAX_BLOCK_BYTES = 1 << 24;
/** Of a packet's block, before its data. */
const PACKET_HEADER_BYTES = 20;
/** By the low two bits of a packet's flags. */
const DIRECTIONS = [Direction.UNKNOWN, Direction.IN, Direction.OUT, Direction.UNKNOWN] as const;
const TWO_TO_32 = 2 ** 32;

/** What an interface description says of the packets that name it. */
interface Interface {
  readonly linkType: number;
  readonly snapLength: number;
  /** Nanoseconds of a tick, where that is a whole number; else 0, and `ticksPerSecond` counts. */
  readonly nsPerTick: number;
  readonly ticksPerSecond: bigint;
  readonly offsetSeconds: number;
}

const MAX_DECIMAL_RESOLUTION = 9;

function clockOf(resolution: number): Pick<Interface, 'nsPerTick' | 'ticksPerSecond'> {
  const exponent = resolution & 0x7f;
  const isDecimal = (resolution & 0x80) === 0;
  return {
    nsPerTick: isDecimal && exponent <= MAX_DECIMAL_RESOLUTION ? 10 ** (MAX_DECIMAL_RESOLUTION - exponent) : 0,
    ticksPerSecond: isDecimal ? 10n ** BigInt(exponent) : 2n ** BigInt(exponent),
  };
}

/** Puts a 64-bit number of ticks into a frame. */
function setTime(frame: FrameCursor, high: number, low: number, clock: Interface): void {
  let seconds: number;
  if (clock.nsPerTick > 0) {
    // Long division by 16 bits, which no step takes beyond what a number holds exactly.
    const perSecond = NS_PER_SECOND / clock.nsPerTick;
    const first = Math.floor(high / perSecond);
    let rest = (high - first * perSecond) * 65536 + (low >>> 16);
    const second = Math.floor(rest / perSecond);
    rest = (rest - second * perSecond) * 65536 + (low & 0xffff);
    const third = Math.floor(rest / perSecond);
    seconds = first * TWO_TO_32 + second * 65536 + third;
    frame.nanoseconds = (rest - third * perSecond) * clock.nsPerTick;
  } else {
    const ticks = (BigInt(high) << 32n) | BigInt(low);
    seconds = Number(ticks / clock.ticksPerSecond);
    frame.nanoseconds = Number(((ticks % clock.ticksPerSecond) * BigInt(NS_PER_SECOND)) / clock.ticksPerSecond);
  }
  frame.seconds = seconds + clock.offsetSeconds;
}

class PcapngFile implements CaptureFormat {
  isFrame = false;
  #little = true;
  #interfaces: Interface[] = [];

  step(bytes: Uint8Array, offset: number, frame: FrameCursor): number {
    this.isFrame = false;
    if (bytes.length < offset + MIN_BLOCK_BYTES) return 0;
    // A section header reads the same in both byte orders, and tells the order of everything up to the next one.
    if (readU32(bytes, offset, true) === PcapngBlock.SECTION_HEADER) this.#beginSection(bytes, offset);
    const length = readU32(bytes, offset + 4, this.#little);
    if (length < MIN_BLOCK_BYTES || length > MAX_BLOCK_BYTES || length % 4 !== 0) {
      throw new CaptureError(`the file is damaged: it claims a block of ${length} bytes`);
    }
    if (bytes.length < offset + length) return 0;
    if (readU32(bytes, offset + length - 4, this.#little) !== length) {
      throw new CaptureError('the file is damaged: a block ends with another length than it began with');
    }
    this.#block(bytes, offset + 8, offset + length - 4, readU32(bytes, offset, this.#little), frame);
    return length;
  }

  #beginSection(bytes: Uint8Array, offset: number): void {
    const magic = readU32(bytes, offset + 8, true);
    this.#little = magic === SECTION_BYTE_ORDER_MAGIC;
    if (!this.#little && readU32(bytes, offset + 8, false) !== SECTION_BYTE_ORDER_MAGIC) {
      throw new CaptureError('the file is damaged: a section has no byte order');
    }
    this.#interfaces = [];
  }

  #block(bytes: Uint8Array, begin: number, end: number, type: number, frame: FrameCursor): void {
    switch (type) {
      case PcapngBlock.INTERFACE_DESCRIPTION:
        this.#interfaces.push(this.#interface(bytes.subarray(begin, end)));
        break;
      case PcapngBlock.ENHANCED_PACKET:
        this.#packet(bytes, begin, end, readU32(bytes, begin, this.#little), frame);
        break;
      case PcapngBlock.OBSOLETE_PACKET:
        this.#packet(bytes, begin, end, readU16(bytes, begin, this.#little), frame);
        break;
      case PcapngBlock.SIMPLE_PACKET:
        this.#simplePacket(bytes, begin, end, frame);
        break;
    }
  }

  #interface(body: Uint8Array): Interface {
    const little = this.#little;
    if (body.length < 8) throw new CaptureError('the file is damaged: an interface description is too short');
    let resolution = 6;
    let offsetSeconds = 0;
    let at = 8;
    while (at + 4 <= body.length) {
      const code = readU16(body, at, little);
      const length = readU16(body, at + 2, little);
      if (code === PcapngOption.END || at + 4 + length > body.length) break;
      if (code === PcapngOption.IF_TSRESOL && length >= 1) resolution = body[at + 4];
      if (code === PcapngOption.IF_TSOFFSET && length >= 8) {
        const low = BigInt(readU32(body, at + (little ? 4 : 8), little));
        const high = BigInt(readU32(body, at + (little ? 8 : 4), little));
        offsetSeconds = Number(BigInt.asIntN(64, (high << 32n) | low));
      }
      at += 4 + length + (-length & 3);
    }
    return {
      linkType: readU16(body, 0, little),
      snapLength: readU32(body, 4, little),
      ...clockOf(resolution),
      offsetSeconds,
    };
  }

  #interfaceAt(index: number): Interface {
    const found = this.#interfaces.at(index);
    if (found === undefined) throw new CaptureError(`the file is damaged: a packet of the unknown interface ${index}`);
    return found;
  }

  #packet(bytes: Uint8Array, begin: number, end: number, interfaceId: number, frame: FrameCursor): void {
    const little = this.#little;
    const at = begin + PACKET_HEADER_BYTES;
    const capturedLength = readU32(bytes, begin + 12, little);
    if (end < at + capturedLength) {
      throw new CaptureError('the file is damaged: a packet is longer than its block');
    }
    const from = this.#interfaceAt(interfaceId);
    setTime(frame, readU32(bytes, begin + 4, little), readU32(bytes, begin + 8, little), from);
    frame.linkType = from.linkType;
    frame.interfaceId = interfaceId;
    frame.begin = at;
    frame.end = at + capturedLength;
    frame.originalLength = readU32(bytes, begin + 16, little);
    this.#options(bytes, at + capturedLength + (-capturedLength & 3), end, frame);
    this.isFrame = true;
  }

  /** What the options say that begin there. */
  #options(bytes: Uint8Array, begin: number, end: number, frame: FrameCursor): void {
    const little = this.#little;
    frame.direction = Direction.UNKNOWN;
    frame.commentBegin = 0;
    frame.commentEnd = 0;
    for (let at = begin; at + 4 <= end;) {
      const code = readU16(bytes, at, little);
      const length = readU16(bytes, at + 2, little);
      if (code === PcapngOption.END || at + 4 + length > end) break;
      if (code === PcapngOption.EPB_FLAGS && length === 4)
        frame.direction = DIRECTIONS[readU32(bytes, at + 4, little) & 3];
      // Of several the first is the one that Wireshark shows.
      else if (code === PcapngOption.COMMENT && frame.commentBegin === 0) {
        frame.commentBegin = at + 4;
        frame.commentEnd = at + 4 + length;
      }
      at += 4 + length + (-length & 3);
    }
  }

  #simplePacket(bytes: Uint8Array, begin: number, end: number, frame: FrameCursor): void {
    const from = this.#interfaceAt(0);
    const originalLength = readU32(bytes, begin, this.#little);
    const limit = from.snapLength === 0 ? originalLength : Math.min(originalLength, from.snapLength);
    frame.seconds = 0;
    frame.nanoseconds = 0;
    frame.linkType = from.linkType;
    frame.interfaceId = 0;
    frame.begin = begin + 4;
    frame.end = Math.min(begin + 4 + limit, end);
    frame.originalLength = originalLength;
    frame.direction = Direction.UNKNOWN;
    frame.commentBegin = 0;
    frame.commentEnd = 0;
    this.isFrame = true;
  }
}

/** A reader for the pcapng file that begins with these bytes; undefined when it is none. */
export function pcapngFormat(bytes: Uint8Array): CaptureFormat | undefined {
  return readU32(bytes, 0, true) === PcapngBlock.SECTION_HEADER ? new PcapngFile() : undefined;
}
