/** One line a packet. */
import {
  Direction,
  type FlowTable,
  formatPacket,
  getU24,
  hex,
  IcrcVerdict,
  type PacketCursor,
  type PacketView,
  Shape,
  Tunnel,
} from '../../device/wire/index.js';
import { vlanOf, wireOrder } from './examine.js';
import { formatMad } from './mad.js';
import type { Mad } from './mad.js';

/** No packet is longer: 4096 bytes of payload, the longest headers, padding and ICRC fit well. */
const LONGEST_PACKET_BYTES = 4200;
const NUMBER_DIGITS = 5;
const TIME_DIGITS = 10;
const US_PER_SECOND = 1e6;
const QPN_OFFSET = 5;

const SIX_DIGITS = 6;

/** Seconds with six digits after the point. */
export function formatTime(timeNs: number): string {
  const sign = timeNs < 0 ? '-' : '';
  const microseconds = Math.floor(Math.abs(timeNs) / 1000);
  const seconds = Math.floor(microseconds / US_PER_SECOND);
  return `${sign}${seconds}.${String(microseconds - seconds * US_PER_SECOND).padStart(SIX_DIGITS, '0')}`;
}

/** `icrc=ok`, or what is wrong with it. ICRCs are shown as the bytes on the wire, as Wireshark shows them. */
export function formatVerdict({ icrc, place, storedIcrc, expectedIcrc, shape }: PacketView): string {
  const { length, capturedLength } = place;
  if (icrc === IcrcVerdict.OK) return 'icrc=ok';
  if (icrc === IcrcVerdict.CUT) return `icrc=? (the capture holds ${capturedLength} of ${length} bytes)`;
  if (shape === Shape.NO_BTH) return 'icrc=WRONG (no room for one)';
  const values = `has ${hex(wireOrder(storedIcrc), 8)}, should have ${hex(wireOrder(expectedIcrc), 8)}`;
  // A capture on a sender with segmentation offload shows a whole train of packets as one datagram.
  const hint = length > LONGEST_PACKET_BYTES ? '; too long for one packet: captured before segmentation?' : '';
  return `icrc=WRONG (${values}${hint})`;
}

/** As tcpdump names them where it listens on several interfaces. By {@link Direction}. */
const DIRECTION_WORDS = ['', 'In  ', 'Out '];

/** Formats the packets of one file. */
export class LineFormatter {
  /** By flow. */
  readonly #ends: string[] = [];

  constructor(private readonly flows: FlowTable) {}

  /**
   * Frame number, time, direction where it is known, addresses, VLAN tag, tunnel, opcode, QPN, PSN, flags, headers, payload
   * length, ICRC verdict.
   */
  format(cursor: PacketCursor, mad: Mad | undefined, meaning: string | undefined): string {
    const { packet, frames, direction } = cursor;
    const { place, bytes, shape, payloadBytes, icrc } = packet;
    const { offset, vlan, tunnel, capturedLength } = place;
    const time = formatTime(cursor.timeNs).padStart(TIME_DIGITS);
    let text = `${String(frames.count).padStart(NUMBER_DIGITS)} ${time} `;
    if (direction !== Direction.UNKNOWN) text += DIRECTION_WORDS[direction];
    text += this.#endsOf(packet);
    if (vlan >= 0) {
      const { id, pcp } = vlanOf(vlan);
      text += ` vlan=${id} pcp=${pcp}`;
    }
    if (tunnel !== Tunnel.NONE) text += ` in ${tunnel}`;
    if (place.roceVersion === 1) text += ' RoCEv1';
    if (shape !== Shape.NO_BTH) text += ` ${formatPacket(bytes, offset, payloadBytes, offset + capturedLength)}`;
    if (shape !== Shape.WHOLE) text += ` UNREADABLE (${packet.refusal ?? ''})`;
    if (mad !== undefined) text += ` ${formatMad(mad)}`;
    if (meaning !== undefined) text += ` [${meaning}]`;
    return icrc === IcrcVerdict.OK ? `${text} icrc=ok` : `${text} ${formatVerdict(packet)}`;
  }

  /** Of a packet. */
  addresses(packet: PacketView): { readonly source: string; readonly destination: string } {
    const flow = this.#flowOf(packet);
    return { source: this.flows.source(flow), destination: this.flows.destination(flow) };
  }

  #endsOf(packet: PacketView): string {
    const flow = this.#flowOf(packet);
    return (this.#ends[flow] ??= `${this.flows.source(flow)} > ${this.flows.destination(flow)}`);
  }

  #flowOf({ place: { ipOffset, ipv6, offset }, bytes, shape }: PacketView): number {
    const isReadable = shape !== Shape.NO_BTH;
    const qpn = isReadable ? getU24(bytes, offset + QPN_OFFSET) : 0;
    return this.flows.numberOf(bytes, ipOffset, ipv6, qpn, isReadable ? bytes[offset] >>> 5 : 0);
  }
}
