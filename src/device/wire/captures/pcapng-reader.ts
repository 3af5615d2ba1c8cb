/** Reading pcapng files (https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-02.html). */
import { readU16, readU32 } from '../bytes.js';
import { CaptureError, type CaptureFormat, type CaptureRecord, type CaptureStep } from './capture-format.js';
import { PcapngBlock, PcapngOption, SECTION_BYTE_ORDER_MAGIC } from './pcapng.js';

const MIN_BLOCK_BYTES = 12;
const MAX_BLOCK_BYTES = 1 << 24;
/** By the low two bits of a packet's flags. */
const DIRECTIONS = [undefined, 'in', 'out', undefined] as const;
const NS_PER_SECOND = 1_000_000_000n;
const text = new TextDecoder();

/** What an interface description says of the packets that name it. */
interface Interface {
  readonly linkType: number;
  readonly snapLength: number;
  readonly ticksPerSecond: bigint;
  readonly offsetSeconds: bigint;
}

function ticksPerSecond(resolution: number): bigint {
  const exponent = BigInt(resolution & 0x7f);
  return (resolution & 0x80) === 0 ? 10n ** exponent : 2n ** exponent;
}

class PcapngFile implements CaptureFormat {
  #little = true;
  #interfaces: Interface[] = [];

  step(bytes: Uint8Array, offset: number): CaptureStep | undefined {
    if (bytes.length < offset + MIN_BLOCK_BYTES) return undefined;
    // A section header reads the same in both byte orders, and tells the order of everything up to the next one.
    if (readU32(bytes, offset, true) === PcapngBlock.SECTION_HEADER) this.#beginSection(bytes, offset);
    const length = readU32(bytes, offset + 4, this.#little);
    if (length < MIN_BLOCK_BYTES || length > MAX_BLOCK_BYTES || length % 4 !== 0) {
      throw new CaptureError(`the file is damaged: it claims a block of ${length} bytes`);
    }
    if (bytes.length < offset + length) return undefined;
    if (readU32(bytes, offset + length - 4, this.#little) !== length) {
      throw new CaptureError('the file is damaged: a block ends with another length than it began with');
    }
    const body = bytes.subarray(offset + 8, offset + length - 4);
    const record = this.#block(readU32(bytes, offset, this.#little), body);
    return record === undefined ? { consumed: length } : { consumed: length, record };
  }

  #beginSection(bytes: Uint8Array, offset: number): void {
    const magic = readU32(bytes, offset + 8, true);
    this.#little = magic === SECTION_BYTE_ORDER_MAGIC;
    if (!this.#little && readU32(bytes, offset + 8, false) !== SECTION_BYTE_ORDER_MAGIC) {
      throw new CaptureError('the file is damaged: a section has no byte order');
    }
    this.#interfaces = [];
  }

  #block(type: number, body: Uint8Array): CaptureRecord | undefined {
    switch (type) {
      case PcapngBlock.INTERFACE_DESCRIPTION:
        this.#interfaces.push(this.#interface(body));
        return undefined;
      case PcapngBlock.ENHANCED_PACKET:
        return this.#packet(body, readU32(body, 0, this.#little));
      case PcapngBlock.OBSOLETE_PACKET:
        return this.#packet(body, readU16(body, 0, this.#little));
      case PcapngBlock.SIMPLE_PACKET:
        return this.#simplePacket(body);
      default:
        return undefined;
    }
  }

  #interface(body: Uint8Array): Interface {
    const little = this.#little;
    if (body.length < 8) throw new CaptureError('the file is damaged: an interface description is too short');
    let resolution = 6;
    let offsetSeconds = 0n;
    let at = 8;
    while (at + 4 <= body.length) {
      const code = readU16(body, at, little);
      const length = readU16(body, at + 2, little);
      if (code === PcapngOption.END || at + 4 + length > body.length) break;
      if (code === PcapngOption.IF_TSRESOL && length >= 1) resolution = body[at + 4];
      if (code === PcapngOption.IF_TSOFFSET && length >= 8) {
        const low = BigInt(readU32(body, at + (little ? 4 : 8), little));
        const high = BigInt(readU32(body, at + (little ? 8 : 4), little));
        offsetSeconds = BigInt.asIntN(64, (high << 32n) | low);
      }
      at += 4 + length + (-length & 3);
    }
    return {
      linkType: readU16(body, 0, little),
      snapLength: readU32(body, 4, little),
      ticksPerSecond: ticksPerSecond(resolution),
      offsetSeconds,
    };
  }

  #interfaceAt(index: number): Interface {
    const found = this.#interfaces.at(index);
    if (found === undefined) throw new CaptureError(`the file is damaged: a packet of the unknown interface ${index}`);
    return found;
  }

  #packet(body: Uint8Array, interfaceIndex: number): CaptureRecord {
    const little = this.#little;
    const capturedLength = readU32(body, 12, little);
    if (body.length < 20 + capturedLength) {
      throw new CaptureError('the file is damaged: a packet is longer than its block');
    }
    const from = this.#interfaceAt(interfaceIndex);
    const ticks = (BigInt(readU32(body, 4, little)) << 32n) | BigInt(readU32(body, 8, little));
    return {
      timestampNs: from.offsetSeconds * NS_PER_SECOND + (ticks * NS_PER_SECOND) / from.ticksPerSecond,
      linkType: from.linkType,
      data: body.subarray(20, 20 + capturedLength),
      originalLength: readU32(body, 16, little),
      ...this.#options(body, 20 + capturedLength + (-capturedLength & 3)),
    };
  }

  /** What the options say that begin there. */
  #options(body: Uint8Array, optionsAt: number): Pick<CaptureRecord, 'direction' | 'comment'> {
    const little = this.#little;
    let direction: CaptureRecord['direction'];
    let comment: string | undefined;
    for (let at = optionsAt; at + 4 <= body.length;) {
      const code = readU16(body, at, little);
      const length = readU16(body, at + 2, little);
      if (code === PcapngOption.END || at + 4 + length > body.length) break;
      if (code === PcapngOption.EPB_FLAGS && length === 4) direction = DIRECTIONS[readU32(body, at + 4, little) & 3];
      // Of several the first is the one that Wireshark shows.
      else if (code === PcapngOption.COMMENT) comment ??= text.decode(body.subarray(at + 4, at + 4 + length));
      at += 4 + length + (-length & 3);
    }
    return { direction, comment };
  }

  #simplePacket(body: Uint8Array): CaptureRecord {
    const from = this.#interfaceAt(0);
    const originalLength = readU32(body, 0, this.#little);
    const limit = from.snapLength === 0 ? originalLength : Math.min(originalLength, from.snapLength);
    return { timestampNs: 0n, linkType: from.linkType, data: body.subarray(4, 4 + limit), originalLength };
  }
}

/** A reader for the pcapng file that begins with these bytes; undefined when it is none. */
export function pcapngFormat(bytes: Uint8Array): CaptureFormat | undefined {
  return readU32(bytes, 0, true) === PcapngBlock.SECTION_HEADER ? new PcapngFile() : undefined;
}
