// What begins every datagram of ud: `uct_ud_neth_t` of uct/ib/ud/base/ud_def.h, UCX 1.13. A word, the datagram's PSN, and the last one that has come from the
// peer without a gap. The word is the receiver's number of the endpoint in its lower 24 bits, and flags; of an active message also its id.

/** Bytes of the header. */
export const UD_HEADER_BYTES = 8;
/** The number of no endpoint: whoever asks for a connection does not know the peer's. */
export const NO_UD_ENDPOINT = 0xff_ffff;

/** Flags of the word. Those above `ECN` are of datagrams that are no active messages, whose id has the same bits. */
export const UdFlags = {
  AM: 1 << 24,
  ACK_REQ: 1 << 25,
  ECN: 1 << 26,
  NACK: 1 << 27,
  /** Bytes for the receiver's memory. */
  PUT: 1 << 28,
  CTL: 1 << 29,
} as const;

const KNOWN_BARE: number = UdFlags.ACK_REQ | UdFlags.ECN | UdFlags.NACK;
const KNOWN_CTL: number = UdFlags.CTL | UdFlags.ACK_REQ | UdFlags.ECN;
const ID_AT = 27;
const FLAGS = 0xff00_0000;

export const UdKind = {
  AM: 0,
  /** A message of the handshake, which has a PSN as active messages do. */
  CTL: 1,
  /** Nothing follows, and it has no PSN of its own, but that of the last that has one. */
  BARE: 2,
  UNKNOWN: 3,
} as const;
export type UdKind = (typeof UdKind)[keyof typeof UdKind];

/** The word of an active message. @param id 0 to 31. @param flags `ACK_REQ` or 0 */
export function amWord(endpoint: number, id: number, flags: number): number {
  return endpoint | UdFlags.AM | flags | (id << ID_AT);
}

export function kindOfWord(word: number): UdKind {
  if ((word & UdFlags.AM) !== 0) return UdKind.AM;
  const flags = word & FLAGS;
  if ((flags & ~KNOWN_BARE) === 0) return UdKind.BARE;
  return (flags & ~KNOWN_CTL) === 0 ? UdKind.CTL : UdKind.UNKNOWN;
}

export function amIdOfWord(word: number): number {
  return word >>> ID_AT;
}

export function endpointOfWord(word: number): number {
  return word & NO_UD_ENDPOINT;
}

/** Writes a header at the beginning of `into`. */
export function writeUdHeader(into: Uint8Array, word: number, psn: number, ackPsn: number): void {
  into[0] = word;
  into[1] = word >>> 8;
  into[2] = word >>> 16;
  into[3] = word >>> 24;
  into[4] = psn;
  into[5] = psn >>> 8;
  into[6] = ackPsn;
  into[7] = ackPsn >>> 8;
}

/** The word that begins at `at`. */
export function udWordAt(bytes: Uint8Array, at: number): number {
  return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
}

/** The PSN of the header that begins at `at`. */
export function udPsnAt(bytes: Uint8Array, at: number): number {
  return bytes[at + 4] | (bytes[at + 5] << 8);
}

/** The PSN that the header at `at` acknowledges. */
export function udAckPsnAt(bytes: Uint8Array, at: number): number {
  return bytes[at + 6] | (bytes[at + 7] << 8);
}
