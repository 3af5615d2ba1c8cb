/** The RoCE packets of a capture file that comes in pieces, one at a time. */
import { getU16, getU32 } from '../bytes.js';
import { crc32 as plainCrc32, type Crc32 } from '../icrc/crc32.js';
import { LinkType } from '../ip/locate.js';
import { CaptureFrames } from './capture.js';
import { Direction, NS_PER_SECOND } from './capture-format.js';
import { PacketView } from './packet-view.js';
import { SkippedFrames } from './skipped.js';

/** What Linux says of a frame in its cooked headers: it came to this machine (0 to 2), or left it (4). */
const SLL_OUTGOING = 4;
const SLL_LAST_INCOMING = 2;
const SLL_BYTES = 16;
const SLL2_BYTES = 20;

function cookedDirection(kind: number): Direction {
  if (kind === SLL_OUTGOING) return Direction.OUT;
  return kind <= SLL_LAST_INCOMING ? Direction.IN : Direction.UNKNOWN;
}

/** Steps through a file: `feed` a piece, call `next` until it is false, and at last `end`. */
export class PacketCursor {
  /** The current packet, until `next` is called again. */
  readonly packet: PacketView;
  readonly frames = new CaptureFrames();
  readonly skipped = new SkippedFrames();
  /** Nanoseconds since the file's first frame. */
  timeNs = 0;
  /** When the first frame was captured: seconds since 1970, and nanoseconds; -1 before there is one. */
  startSeconds = -1;
  startNanoseconds = 0;
  /** Whether the machine that captured received or sent the current packet. */
  direction: Direction = Direction.UNKNOWN;
  /** The interface that the packet was seen on: its index on the capturing machine or its number in the file. */
  interfaceId = 0;

  /** @param crc32 computes ICRCs; hosts may have a faster one for long packets */
  constructor(crc32: Crc32 = plainCrc32) {
    this.packet = new PacketView(crc32);
  }

  /**
   * Takes the next piece of the file, after {@link next} has returned false: then the memory of the piece before may be used
   * again. A byte of it is changed and put back while a packet is looked at.
   */
  feed(piece: Uint8Array): void {
    this.frames.feed(piece);
  }

  /**
   * Goes to the next RoCE packet. Other frames are counted in {@link skipped}.
   *
   * @returns false when the pieces so far hold none
   * @throws CaptureError when the file is not a capture or is damaged
   */
  next(): boolean {
    const { frames, packet } = this;
    while (frames.next()) {
      const { frame, bytes } = frames;
      if (this.startSeconds < 0) {
        this.startSeconds = frame.seconds;
        this.startNanoseconds = frame.nanoseconds;
      }
      const refusal = packet.examine(frame.linkType, bytes, frame.begin, frame.end);
      if (refusal !== undefined) {
        this.skipped.count(refusal, packet.place);
        continue;
      }
      this.timeNs = (frame.seconds - this.startSeconds) * NS_PER_SECOND + (frame.nanoseconds - this.startNanoseconds);
      this.#readCookedHeader();
      return true;
    }
    return false;
  }

  /**
   * To be called after the last piece.
   *
   * @throws CaptureError when the file ends within a frame or before its own header
   */
  end(): void {
    this.frames.end();
  }

  #readCookedHeader(): void {
    const { frame, bytes } = this.frames;
    const { begin, end, linkType } = frame;
    this.direction = frame.direction;
    this.interfaceId = frame.interfaceId;
    if (linkType === LinkType.LINUX_SLL && end >= begin + SLL_BYTES) {
      if (this.direction === Direction.UNKNOWN) this.direction = cookedDirection(getU16(bytes, begin));
    } else if (linkType === LinkType.LINUX_SLL2 && end >= begin + SLL2_BYTES) {
      if (this.direction === Direction.UNKNOWN) this.direction = cookedDirection(bytes[begin + 10]);
      this.interfaceId = getU32(bytes, begin + 4) >>> 0;
    }
  }
}
