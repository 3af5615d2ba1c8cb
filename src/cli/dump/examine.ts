/** What there is to say of a captured packet, as an object. */
import {
  type CmMessage,
  datagramAt,
  decodeHeaders,
  type PacketCursor,
  type PacketHeaders,
  type RoceDatagram,
  Shape,
  type Tunnel,
} from '../../device/wire/index.js';
import type { Mad } from './mad.js';
import type { ReadPacket } from './meanings.js';

/** `cut`: the capture holds only the packet's beginning, so nobody can tell. */
export type Verdict = 'ok' | 'wrong' | 'cut';

/** By `IcrcVerdict`. */
export const VERDICTS: readonly Verdict[] = ['ok', 'wrong', 'cut'];
/** By `Direction`. */
const DIRECTIONS = [undefined, 'in', 'out'] as const;
const MAC_BYTES = 6;

/** A VLAN tag. */
interface VlanTag {
  readonly id: number;
  /** Priority code point: what PFC pauses by. */
  readonly pcp: number;
  readonly dei: number;
}

/** A RoCE packet of the file. */
export interface Examined {
  /** Of the frame in the file, from 1 on. */
  readonly number: number;
  /** Nanoseconds since the file's first frame. */
  readonly timeNs: number;
  /** Nanoseconds since 1970. */
  readonly timestampNs: string;
  /** Whether the machine that captured sent or received it, where the file tells. */
  readonly direction: 'in' | 'out' | undefined;
  /** The interface that it was seen on: an index of Linux, or its number in the file. */
  readonly interfaceId: number;
  readonly comment: string | undefined;
  readonly ethernet: { readonly source: string; readonly destination: string } | undefined;
  readonly vlan: VlanTag | undefined;
  readonly tunnel: Tunnel;
  readonly datagram: RoceDatagram;
  readonly addresses: { readonly source: string; readonly destination: string };
  /** The headers, as far as they can be read. */
  readonly headers: PacketHeaders | undefined;
  /** Payload and padding in bytes; the first of the payload's bytes. */
  readonly payload: { readonly lengthBytes: number; readonly padding: number; readonly bytes: Uint8Array } | undefined;
  /** Why the packet is not whole. */
  readonly refusal: string | undefined;
  readonly mad: Mad | undefined;
  readonly cm: CmMessage | undefined;
  /** What a protocol of this package means by it. */
  readonly meaning: string | undefined;
  readonly verdict: Verdict;
  /** The ICRC that the packet should have, where it could be computed, and the one that it has: as bytes lie on the wire. */
  readonly expectedIcrc: number | undefined;
  readonly storedIcrc: number | undefined;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function macText(bytes: Uint8Array, at: number): string {
  let text = HEX[bytes[at]];
  for (let i = at + 1; i < at + MAC_BYTES; i += 1) text += `:${HEX[bytes[i]]}`;
  return text;
}

const NS_PER_SECOND = 1e9;
const NS_DIGITS = 9;

/** Nanoseconds since 1970, which are more than a number holds exactly. */
function timestampText({ startSeconds, startNanoseconds, timeNs }: PacketCursor): string {
  const ns = startNanoseconds + timeNs;
  const carry = Math.floor(ns / NS_PER_SECOND);
  const seconds = startSeconds + carry;
  const rest = String(ns - carry * NS_PER_SECOND);
  return seconds === 0 ? rest : `${seconds}${rest.padStart(NS_DIGITS, '0')}`;
}

/** An ICRC, which CRC-32 gives as a number, as the four bytes that it is on the wire. */
export const wireOrder = (icrc: number): number =>
  (((icrc & 0xff) << 24) | ((icrc & 0xff00) << 8) | ((icrc >>> 8) & 0xff00) | (icrc >>> 24)) >>> 0;

/** The parts of a VLAN tag. */
export const vlanOf = (tag: number): VlanTag => ({ id: tag & 0xfff, pcp: tag >> 13, dei: (tag >> 12) & 1 });

/** The cursor's packet. @param read the packet, if it is whole */
export function examine(
  cursor: PacketCursor,
  addresses: Examined['addresses'],
  read: ReadPacket | undefined,
  meaning: string | undefined,
): Examined {
  const { packet: view, frames, timeNs } = cursor;
  const { place, bytes, shape, icrc } = view;
  const { offset, length, capturedLength, etherOffset, vlan, tunnel } = place;
  const datagram = datagramAt(bytes, place);
  const hasIcrc = capturedLength === length && shape !== Shape.NO_BTH;
  return {
    number: frames.count,
    timeNs,
    timestampNs: timestampText(cursor),
    direction: DIRECTIONS[cursor.direction],
    interfaceId: cursor.interfaceId,
    comment: frames.comment,
    ethernet:
      etherOffset < 0
        ? undefined
        : { destination: macText(bytes, etherOffset), source: macText(bytes, etherOffset + MAC_BYTES) },
    vlan: vlan < 0 ? undefined : vlanOf(vlan),
    tunnel,
    datagram,
    addresses,
    headers:
      read?.packet ?? (shape === Shape.NO_BTH ? undefined : decodeHeaders(bytes, offset, offset + capturedLength)),
    payload: read && {
      lengthBytes: read.packet.payload.length,
      padding: read.packet.padding.length,
      bytes: read.packet.payload,
    },
    refusal: view.refusal,
    mad: read?.mad,
    cm: read?.mad?.cm,
    meaning,
    verdict: VERDICTS[icrc],
    expectedIcrc: hasIcrc ? wireOrder(view.expectedIcrc) : undefined,
    storedIcrc: hasIcrc ? wireOrder(view.storedIcrc) : undefined,
  };
}
