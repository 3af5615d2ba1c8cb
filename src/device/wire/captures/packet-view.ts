/** What there is to say of one captured packet, without an object for it. */
import { getU16 } from '../bytes.js';
import type { Crc32 } from '../icrc/crc32.js';
import { headersTwiceCrc, storedIcrc } from '../icrc/icrc.js';
import { IcrcVerifier } from '../icrc/icrc-verifier.js';
import { datagramAt, datagramIcrc } from '../ip/ip.js';
import { type NotRoce, RoceLocator } from '../ip/locate.js';
import { PacketMeta } from '../ip/path.js';
import { BTH_BYTES, ICRC_BYTES } from '../packets/bth.js';
import { Opcode, opcodeBits, opcodeHeaderBytes, opcodeName } from '../packets/opcode.js';

/** Whether a packet has the ICRC that its headers call for. `CUT`: the capture lacks some of the bytes. */
export const IcrcVerdict = { OK: 0, WRONG: 1, CUT: 2 } as const;
/** A value of the {@link IcrcVerdict} object. */
export type IcrcVerdict = (typeof IcrcVerdict)[keyof typeof IcrcVerdict];

/** How much of a packet's headers can be read. */
export const Shape = {
  WHOLE: 0,
  /** The capture ends within the extension headers. */
  HEADERS_CUT: 1,
  /** The packet is too short for its headers and its padding. */
  TOO_SHORT: 2,
  UNKNOWN_OPCODE: 3,
  /** There is no whole BTH: the capture cut it, or the packet is too short for one. */
  NO_BTH: 4,
} as const;
/** A value of the {@link Shape} object. */
export type Shape = (typeof Shape)[keyof typeof Shape];

const MIN_PACKET_BYTES = BTH_BYTES + ICRC_BYTES;
const IPV4_PREFIX_AT = 10;
const IPV4_UDP_BYTES = 28;
const UDP_BYTES = 8;
const DONT_FRAGMENT = 0x4000;
const VERSION_4_WITHOUT_OPTIONS = 0x45;
const PROTOCOL_UDP = 17;

/** Looks at one frame after the other. */
export class PacketView {
  /** Where the packet is in {@link bytes}. */
  readonly place = new RoceLocator(true);
  bytes: Uint8Array = new Uint8Array(0);
  icrc: IcrcVerdict = IcrcVerdict.OK;
  /** The packet's ICRC and the one that it should have, as CRC-32 gives them, signed; only where the capture holds all of it. */
  storedIcrc = 0;
  expectedIcrc = 0;
  shape: Shape = Shape.WHOLE;
  /** Without padding, as the packet's length says; 0 if it is too short. */
  payloadBytes = 0;
  readonly #verifier: IcrcVerifier;
  readonly #meta = new PacketMeta();

  constructor(private readonly crc32: Crc32) {
    this.#verifier = new IcrcVerifier(crc32);
  }

  /**
   * Looks at the frame from `begin` to `end`. One byte of it is changed and put back meanwhile.
   *
   * @returns why it holds no RoCE packet; undefined when the fields of this object describe one
   */
  examine(linkType: number, bytes: Uint8Array, begin: number, end: number): NotRoce | undefined {
    const refusal = this.place.locate(linkType, bytes, begin, end);
    if (refusal !== undefined) return refusal;
    this.bytes = bytes;
    this.#checkIcrc();
    this.#measure();
    return undefined;
  }

  /** Why the packet is not one, or cannot be read; undefined for a whole one. */
  get refusal(): string | undefined {
    const { offset, length } = this.place;
    const opcode = this.bytes[offset];
    switch (this.shape) {
      case Shape.WHOLE:
        return undefined;
      case Shape.HEADERS_CUT:
        return 'the capture cut it within its headers';
      case Shape.UNKNOWN_OPCODE:
        return `unknown opcode 0x${opcode.toString(16).padStart(2, '0')}`;
      case Shape.TOO_SHORT: {
        const padding = (this.bytes[offset + 1] >> 4) & 3;
        return `${length} bytes are too few for a ${opcodeName(opcode)} with ${padding} bytes of padding`;
      }
      case Shape.NO_BTH:
        return length < MIN_PACKET_BYTES
          ? `${length} bytes are too few for a BTH and an ICRC`
          : 'the capture cut it within its headers';
    }
  }

  #measure(): void {
    const { offset, length, capturedLength } = this.place;
    this.payloadBytes = 0;
    if (capturedLength < BTH_BYTES || length < MIN_PACKET_BYTES) {
      this.shape = Shape.NO_BTH;
      return;
    }
    const opcode = this.bytes[offset];
    const headerBytes = opcodeHeaderBytes[opcode];
    const payload = length - ICRC_BYTES - ((this.bytes[offset + 1] >> 4) & 3) - headerBytes;
    if (payload > 0) this.payloadBytes = payload;
    if (opcodeBits[opcode] === 0) this.shape = Shape.UNKNOWN_OPCODE;
    else if (payload < 0) this.shape = Shape.TOO_SHORT;
    else this.shape = capturedLength < headerBytes ? Shape.HEADERS_CUT : Shape.WHOLE;
  }

  #checkIcrc(): void {
    const { place, bytes } = this;
    const { offset, length } = place;
    this.storedIcrc = 0;
    this.expectedIcrc = 0;
    if (length < MIN_PACKET_BYTES) {
      this.icrc = IcrcVerdict.WRONG;
      return;
    }
    if (place.capturedLength < length) {
      this.icrc = IcrcVerdict.CUT;
      return;
    }
    const stored = storedIcrc(bytes, offset, length);
    this.storedIcrc = stored;
    this.expectedIcrc = stored;
    this.icrc = IcrcVerdict.OK;
    if (this.#hasUsualHeaders() && this.#verifier.verify(bytes, offset, length, this.#meta) >= 0) return;
    let expected = datagramIcrc(this.crc32, bytes, datagramAt(bytes, place));
    if (stored !== expected && bytes[offset] === Opcode.RC_FLUSH) {
      // Linux's rxe has another.
      const twice = headersTwiceCrc(this.crc32, expected, bytes, offset, length);
      if (stored === twice) expected = twice;
    }
    this.expectedIcrc = expected;
    if (stored !== expected) this.icrc = IcrcVerdict.WRONG;
  }

  /** Whether the headers are those that the verifier assumes; then they are in `#meta`. */
  #hasUsualHeaders(): boolean {
    const { ipOffset, ipv6, length, sourcePort, roceVersion } = this.place;
    const { bytes } = this;
    const meta = this.#meta;
    const { source, destination } = meta;
    if (roceVersion !== 2) return false;
    if (ipv6) {
      if (bytes[ipOffset + 6] !== PROTOCOL_UDP || getU16(bytes, ipOffset + 4) !== UDP_BYTES + length) return false;
      for (let i = 0; i < 16; i += 1) {
        source[i] = bytes[ipOffset + 8 + i];
        destination[i] = bytes[ipOffset + 24 + i];
      }
      meta.ipId = 0;
    } else {
      if (
        bytes[ipOffset] !== VERSION_4_WITHOUT_OPTIONS ||
        getU16(bytes, ipOffset + 2) !== IPV4_UDP_BYTES + length ||
        getU16(bytes, ipOffset + 6) !== DONT_FRAGMENT
      )
        return false;
      if (meta.ipv6 || source[IPV4_PREFIX_AT] !== 0xff) {
        for (const gid of [source, destination]) gid.fill(0).fill(0xff, IPV4_PREFIX_AT, IPV4_PREFIX_AT + 2);
      }
      for (let i = 0; i < 4; i += 1) {
        source[12 + i] = bytes[ipOffset + 12 + i];
        destination[12 + i] = bytes[ipOffset + 16 + i];
      }
      meta.ipId = getU16(bytes, ipOffset + 4);
    }
    meta.ipv6 = ipv6;
    meta.sourcePort = sourcePort;
    return true;
  }
}
