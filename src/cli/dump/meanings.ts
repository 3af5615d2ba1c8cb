/** What protocols mean by the packets of a capture. */
import {
  BTH_BYTES,
  type CmMessage,
  decodePacket,
  type FlowTable,
  getU24,
  IcrcVerdict,
  OpcodeBit,
  opcodeBits,
  opcodeHeaderBytes,
  type Packet,
  type PacketView,
  type Refusal,
  Shape,
} from '../../device/wire/index.js';
import { Conversations, dissectors } from '../../protocols/dissect/index.js';
import { type Mad, madOf } from './mad.js';

const CARRIES_MESSAGES = OpcodeBit.SEND | OpcodeBit.WRITE | OpcodeBit.READ_REQUEST;

/** A packet as an object, with what is in it. */
export interface ReadPacket {
  readonly packet: Packet;
  /** The management datagram in it. */
  readonly mad: Mad | undefined;
}

/** Reads a packet whose headers are whole; what the capture lacks of its payload is 0. Its payload may be of the view's bytes. */
export function readPacket({ place, bytes, shape }: PacketView): ReadPacket | undefined {
  if (shape !== Shape.WHOLE) return undefined;
  const { offset, length, capturedLength } = place;
  const packet = capturedLength === length ? decodePacket(bytes, offset, length) : decodeCut(bytes, place);
  if ('refusal' in packet) return undefined;
  const captured = packet.payload.subarray(0, Math.max(0, capturedLength - opcodeHeaderBytes[packet.bth.opcode]));
  return { packet, mad: madOf(packet, captured) };
}

function decodeCut(bytes: Uint8Array, { offset, length, capturedLength }: PacketView['place']): Packet | Refusal {
  const whole = new Uint8Array(length);
  whole.set(bytes.subarray(offset, offset + capturedLength));
  return decodePacket(whole);
}

/** Follows the protocols of one capture. Packets that no protocol can mean anything by cost next to nothing. */
export class Meanings {
  readonly conversations = new Conversations(dissectors());
  /** By flow: the revision of the conversations at which its queue pair was not followed. */
  readonly #unfollowedAt: number[] = [];

  constructor(private readonly flows: FlowTable) {}

  /**
   * What the next packet means. A damaged one may say anything, and so says nothing.
   *
   * @param read gives the packet, and is called only where a protocol may know it
   */
  next(view: PacketView, timeNs: number, read: () => ReadPacket | undefined): string | undefined {
    const { place, bytes, icrc, shape } = view;
    if (icrc === IcrcVerdict.WRONG || shape !== Shape.WHOLE) return undefined;
    const opcode = bytes[place.offset];
    const bits = opcodeBits[opcode];
    if ((bits & CARRIES_MESSAGES) === 0) return undefined;
    const { flows, conversations } = this;
    const qpn = getU24(bytes, place.offset + BTH_BYTES - 7);
    const flow = flows.numberOf(bytes, place.ipOffset, place.ipv6, qpn, opcode >>> 5);
    if ((bits & OpcodeBit.DETH) === 0) {
      const { revision } = conversations;
      if (this.#unfollowedAt[flow] === revision) return undefined;
      if (!conversations.follows(flows.destination(flow), qpn)) {
        this.#unfollowedAt[flow] = revision;
        return undefined;
      }
    }
    const found = read();
    if (found === undefined) return undefined;
    const cm: CmMessage | undefined = found.mad?.cm;
    const addresses = { source: flows.source(flow), destination: flows.destination(flow) };
    const isCut = icrc === IcrcVerdict.CUT;
    // Messages of several packets are put together from their payloads, which the view's bytes do not keep.
    const packet = { ...found.packet, payload: found.packet.payload.slice() };
    return conversations.next({ ...addresses, timeUs: timeNs / 1000, packet, cm, isCut });
  }
}
