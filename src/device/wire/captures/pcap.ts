/** Classic pcap files (https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-04.html). */
import { readU32 } from '../bytes.js';
import { CaptureError, type CaptureFormat, type FrameCursor, NS_PER_SECOND } from './capture-format.js';

const FILE_HEADER_BYTES = 24;
const RECORD_HEADER_BYTES = 16;
const MAGIC_MICROSECONDS = 0xa1b2c3d4;
const MAGIC_NANOSECONDS = 0xa1b23c4d;
/** libpcap's own bound on what a frame may claim to be. */
const MAX_FRAME_BYTES = 1 << 20;

class PcapFile implements CaptureFormat {
  isFrame = false;
  /** -1 = the file header was not read yet. */
  #linkType = -1;

  constructor(
    private readonly little: boolean,
    private readonly nsPerTick: number,
  ) {}

  step(bytes: Uint8Array, offset: number, frame: FrameCursor): number {
    this.isFrame = this.#linkType >= 0;
    if (!this.isFrame) {
      if (bytes.length < offset + FILE_HEADER_BYTES) return 0;
      // The upper bits tell of a frame check sequence, which the frame's own lengths leave out anyway.
      this.#linkType = readU32(bytes, offset + 20, this.little) & 0xffff;
      return FILE_HEADER_BYTES;
    }
    if (bytes.length < offset + RECORD_HEADER_BYTES) return 0;
    const capturedLength = readU32(bytes, offset + 8, this.little);
    if (capturedLength > MAX_FRAME_BYTES) {
      throw new CaptureError(`the file is damaged: it claims a packet of ${capturedLength} bytes`);
    }
    const begin = offset + RECORD_HEADER_BYTES;
    if (bytes.length < begin + capturedLength) return 0;
    const nanoseconds = readU32(bytes, offset + 4, this.little) * this.nsPerTick;
    // A writer with a bug may put more than a second there.
    const carry = nanoseconds < NS_PER_SECOND ? 0 : Math.floor(nanoseconds / NS_PER_SECOND);
    frame.seconds = readU32(bytes, offset, this.little) + carry;
    frame.nanoseconds = nanoseconds - carry * NS_PER_SECOND;
    frame.linkType = this.#linkType;
    frame.begin = begin;
    frame.end = begin + capturedLength;
    frame.originalLength = readU32(bytes, offset + 12, this.little);
    return RECORD_HEADER_BYTES + capturedLength;
  }
}

/** A reader for the classic pcap file that begins with these bytes; undefined when it is none. */
export function pcapFormat(bytes: Uint8Array): CaptureFormat | undefined {
  for (const little of [true, false]) {
    const magic = readU32(bytes, 0, little);
    if (magic === MAGIC_MICROSECONDS) return new PcapFile(little, 1000);
    if (magic === MAGIC_NANOSECONDS) return new PcapFile(little, 1);
  }
  return undefined;
}
