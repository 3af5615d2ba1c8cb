import { be16, be32, handshake } from '../../../../device/wire/index.js';

/**
 * What ends of a TCP link say. Integers are big-endian. First each end says hello, without waiting for the other:
 *
 * | bytes | hello |
 * |---|---|
 * | 0..3 | "XIOP" |
 * | 4..5 | version, 1 |
 * | 6..7 | sent as 0, not looked at |
 * | 8..11 | the longest body that it takes |
 * | 12..15 | sent as 0, not looked at |
 *
 * Then come frames, of which each is a prefix, a head and a body:
 *
 * | bytes | prefix |
 * |---|---|
 * | 0 | kind |
 * | 1 | 0 |
 * | 2..3 | bytes of the head |
 * | 4..7 | bytes of the body |
 */
export const PREFIX_BYTES = 8;
/** The longest head that ends of this version take. */
export const MAX_HEAD_BYTES = 9216;
/** The longest body that may go along with its head. */
export const MAX_ALONG_BYTES = 8192;
/** No prefix can say more. */
export const MAX_BODY_BYTES = 0xffff_ffff;

export const FrameKind = {
  /** A message whose body goes along with its head. */
  ALONG: 1,
  /** A message whose body lands where the receiver wants it. */
  LANDED: 2,
  /** Asks for an ANSWER: is anybody there? Has neither head nor body, and nor has its answer. */
  PROBE: 3,
  ANSWER: 4,
} as const;
export type FrameKind = (typeof FrameKind)[keyof typeof FrameKind];

const MAGIC = 'XIOP';
export const HELLO = handshake(MAGIC, 1, { maxBodyBytes: be32(8) }, { bytes: 16, versionType: be16 });

/**
 * Whether that can still become a hello.
 *
 * @param hello its first bytes, all of them or fewer
 */
export function isLikeHello(hello: Uint8Array): boolean {
  return Array.from(MAGIC).every((letter, at) => at >= hello.length || hello[at] === letter.charCodeAt(0));
}

export function writePrefix(into: Uint8Array, at: number, kind: FrameKind, headBytes: number, bodyBytes: number): void {
  into[at] = kind;
  into[at + 1] = 0;
  into[at + 2] = headBytes >> 8;
  into[at + 3] = headBytes;
  into[at + 4] = bodyBytes >>> 24;
  into[at + 5] = bodyBytes >> 16;
  into[at + 6] = bodyBytes >> 8;
  into[at + 7] = bodyBytes;
}

/** A prefix that was read: one of these serves for all. */
export class Prefix {
  kind = 0;
  headBytes = 0;
  bodyBytes = 0;

  read(from: Uint8Array, at: number): void {
    this.kind = (from[at] << 8) | from[at + 1];
    this.headBytes = (from[at + 2] << 8) | from[at + 3];
    this.bodyBytes = ((from[at + 4] << 24) | (from[at + 5] << 16) | (from[at + 6] << 8) | from[at + 7]) >>> 0;
  }
}
