/** What the readers of both capture formats have in common. */

export interface CaptureRecord {
  /** Since 1970; 0 where the file has no time for it. */
  readonly timestampNs: bigint;
  /** What the frame begins with, see `LinkType`. */
  readonly linkType: number;
  /** A copy of the frame's bytes. */
  readonly data: Uint8Array;
  /** Whether the machine that captured received or sent it, where the file tells. */
  readonly direction?: 'in' | 'out' | undefined;
  readonly comment?: string | undefined;
  /** Bytes that the frame had on the wire; more than `data` has when the capture cut it. */
  readonly originalLength: number;
}

/** The file is not a capture, or is damaged; the message is a sentence that says where. */
export class CaptureError extends Error {
  override readonly name = 'CaptureError';
}

/** Whether the machine that captured received or sent a packet; the low bits of pcapng's packet flags. */
export const Direction = { UNKNOWN: 0, IN: 1, OUT: 2 } as const;
/** A value of the {@link Direction} object. */
export type Direction = (typeof Direction)[keyof typeof Direction];

/** Nanoseconds in a second. */
export const NS_PER_SECOND = 1e9;

/** The frame that a {@link CaptureFormat} has just read. One object serves a whole file, so that no frame allocates. */
export class FrameCursor {
  /** Since 1970. */
  seconds = 0;
  /** 0 to 999,999,999. */
  nanoseconds = 0;
  linkType = 0;
  /** The frame's bytes as captured: from `begin`, and before `end`. */
  begin = 0;
  end = 0;
  /** Bytes on the wire. */
  originalLength = 0;
  direction: Direction = Direction.UNKNOWN;
  /** The interface's number in a pcapng file, else 0. */
  interfaceId = 0;
  /** The bytes of a comment; none where both are equal. */
  commentBegin = 0;
  commentEnd = 0;
}

/** Reads the items of one file, one after the other. */
export interface CaptureFormat {
  /** Whether the last step has read a frame; other items only describe frames. */
  readonly isFrame: boolean;

  /**
   * Reads the item that begins at `offset`.
   *
   * @param frame is filled if the item is a frame
   * @returns the item's bytes; 0 when more bytes must be there first
   */
  step(bytes: Uint8Array, offset: number, frame: FrameCursor): number;
}
