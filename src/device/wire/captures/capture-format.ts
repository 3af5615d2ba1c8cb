/** What the readers of both capture formats have in common. */

/** One captured frame. */
export interface CaptureRecord {
  /** Since 1970; 0 where the file has no time for it. */
  readonly timestampNs: bigint;
  /** What the frame begins with, see `LinkType`. */
  readonly linkType: number;
  /** A view of the bytes read. */
  readonly data: Uint8Array;
  /** Whether the machine that captured received or sent it, where the file tells. */
  readonly direction?: 'in' | 'out' | undefined;
  /** What somebody wrote beside it. */
  readonly comment?: string | undefined;
  /** Bytes that the frame had on the wire; more than `data` has when the capture cut it. */
  readonly originalLength: number;
}

/** The file is not a capture, or is damaged; the message is a sentence that says where. */
export class CaptureError extends Error {
  override readonly name = 'CaptureError';
}

/** What a format's reader says of the bytes at its hands: so many are done with, and what they held. */
export interface CaptureStep {
  readonly consumed: number;
  readonly record?: CaptureRecord;
}

/** Reads the items of one file, one after the other. */
export interface CaptureFormat {
  /** Takes the item that begins at `offset`; undefined when more bytes must be there first. */
  step(bytes: Uint8Array, offset: number): CaptureStep | undefined;
}
