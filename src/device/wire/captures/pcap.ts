/** Classic pcap files (https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-04.html). */
import { readU32 } from '../bytes.js';
import { CaptureError, type CaptureFormat, type CaptureStep } from './capture-format.js';

const FILE_HEADER_BYTES = 24;
const RECORD_HEADER_BYTES = 16;
const MAGIC_MICROSECONDS = 0xa1b2c3d4;
const MAGIC_NANOSECONDS = 0xa1b23c4d;
/** libpcap's own bound on what a frame may claim to be. */
const MAX_FRAME_BYTES = 1 << 20;

class PcapFile implements CaptureFormat {
  /** -1 = the file header was not read yet. */
  #linkType = -1;

  constructor(
    private readonly little: boolean,
    private readonly nsPerTick: bigint,
  ) {}

  step(bytes: Uint8Array, offset: number): CaptureStep | undefined {
    if (this.#linkType < 0) {
      if (bytes.length < offset + FILE_HEADER_BYTES) return undefined;
      // The upper bits tell of a frame check sequence, which the frame's own lengths leave out anyway.
      this.#linkType = readU32(bytes, offset + 20, this.little) & 0xffff;
      return { consumed: FILE_HEADER_BYTES };
    }
    if (bytes.length < offset + RECORD_HEADER_BYTES) return undefined;
    const capturedLength = readU32(bytes, offset + 8, this.little);
    if (capturedLength > MAX_FRAME_BYTES) {
      throw new CaptureError(`the file is damaged: it claims a packet of ${capturedLength} bytes`);
    }
    const begin = offset + RECORD_HEADER_BYTES;
    if (bytes.length < begin + capturedLength) return undefined;
    const seconds = BigInt(readU32(bytes, offset, this.little));
    const ticks = BigInt(readU32(bytes, offset + 4, this.little));
    return {
      consumed: RECORD_HEADER_BYTES + capturedLength,
      record: {
        timestampNs: seconds * 1_000_000_000n + ticks * this.nsPerTick,
        linkType: this.#linkType,
        data: bytes.subarray(begin, begin + capturedLength),
        originalLength: readU32(bytes, offset + 12, this.little),
      },
    };
  }
}

/** A reader for the classic pcap file that begins with these bytes; undefined when it is none. */
export function pcapFormat(bytes: Uint8Array): CaptureFormat | undefined {
  for (const little of [true, false]) {
    const magic = readU32(bytes, 0, little);
    if (magic === MAGIC_MICROSECONDS) return new PcapFile(little, 1000n);
    if (magic === MAGIC_NANOSECONDS) return new PcapFile(little, 1n);
  }
  return undefined;
}
