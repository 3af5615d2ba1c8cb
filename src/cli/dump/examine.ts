/** From a captured frame to what there is to say of it. */
import {
  BTH_BYTES,
  type CaptureRecord,
  crc32,
  datagramAddresses,
  datagramIcrc,
  decodePacket,
  frameDirection,
  headersTwiceCrc,
  type NotRoce,
  Opcode,
  opcodeHeaderBytes,
  type Packet,
  parseFrame,
  type Refusal,
  type RoceDatagram,
} from '../../device/wire/index.js';
import { type Mad, madOf } from './mad.js';
import type { Conversations } from '../../protocols/dissect/index.js';

/** The same packet with what its protocol means by it. A damaged one may say anything, and so says nothing. */
export function withMeaning(examined: Examined, conversations: Conversations): Examined {
  const { packet, addresses, mad, verdict, timeNs } = examined;
  if (packet === undefined || verdict === 'wrong') return examined;
  const meaning = conversations.next({
    ...addresses,
    timeUs: Number(timeNs) / 1000,
    packet,
    cm: mad?.cm,
    isCut: verdict === 'cut',
  });
  return meaning === undefined ? examined : { ...examined, meaning };
}

/** BTH and ICRC: nothing shorter can have a right ICRC. */
const MIN_PACKET_BYTES = 16;

/** `cut`: the capture holds only the packet's beginning, so nobody can tell. */
export type Verdict = 'ok' | 'wrong' | 'cut';

/** A RoCE packet of the file. */
export interface Examined {
  /** Of the frame in the file, from 1 on. */
  readonly number: number;
  /** Since the file's first frame. */
  readonly timeNs: bigint;
  readonly timestampNs: bigint;
  /** Whether the machine that captured sent or received it, where the file tells. */
  readonly direction?: 'in' | 'out' | undefined;
  readonly comment?: string | undefined;
  readonly datagram: RoceDatagram;
  readonly addresses: { readonly source: string; readonly destination: string };
  /** The packet, when it could be read. */
  readonly packet?: Packet;
  /** Why not, otherwise. */
  readonly refusal?: string;
  readonly mad?: Mad;
  /** What a protocol of this package means by it. */
  readonly meaning?: string;
  readonly verdict: Verdict;
  /** The ICRC that the packet should have, where it could be computed. */
  readonly expectedIcrc?: number;
  /** The ICRC that it has. */
  readonly storedIcrc?: number;
}

interface IcrcResult {
  readonly verdict: Verdict;
  readonly expectedIcrc?: number;
  readonly storedIcrc?: number;
}

function checkIcrc(frame: Uint8Array, datagram: RoceDatagram): IcrcResult {
  const { offset, length, capturedLength } = datagram;
  if (length < MIN_PACKET_BYTES) return { verdict: 'wrong' };
  if (capturedLength < length) return { verdict: 'cut' };
  let expectedIcrc = datagramIcrc(crc32, frame, datagram) >>> 0;
  const stored = new DataView(frame.buffer, frame.byteOffset).getUint32(offset + length - 4, true);
  if (frame[offset] === Opcode.RC_FLUSH && stored !== expectedIcrc) {
    // Linux's rxe has another.
    const twice = headersTwiceCrc(crc32, expectedIcrc, frame, offset, length) >>> 0;
    if (stored === twice) expectedIcrc = twice;
  }
  return { verdict: stored === expectedIcrc ? 'ok' : 'wrong', expectedIcrc, storedIcrc: stored };
}

function readPacket(frame: Uint8Array, { offset, length, capturedLength }: RoceDatagram): Packet | Refusal {
  if (capturedLength < length) {
    if (capturedLength < BTH_BYTES || capturedLength < opcodeHeaderBytes[frame[offset]]) {
      return { refusal: 'the capture cut it within its headers' };
    }
    // The headers are all there, and the missing rest is not examined.
    const whole = new Uint8Array(length);
    whole.set(frame.subarray(offset, offset + capturedLength));
    return decodePacket(whole);
  }
  return decodePacket(frame, offset, length);
}

/** What of the payload is really in the capture. */
function capturedPayload({ bth, payload }: Packet, { capturedLength }: RoceDatagram): Uint8Array {
  return payload.subarray(0, Math.max(0, capturedLength - opcodeHeaderBytes[bth.opcode]));
}

/** The RoCE packet in a frame, or why there is none. */
export function examine(record: CaptureRecord, number: number, startNs: bigint): Examined | NotRoce {
  const frame = record.data;
  const datagram = parseFrame(record.linkType, frame);
  if (typeof datagram === 'string') return datagram;
  const decoded = readPacket(frame, datagram);
  const common = {
    number,
    timeNs: record.timestampNs - startNs,
    timestampNs: record.timestampNs,
    direction: record.direction ?? frameDirection(record.linkType, frame),
    comment: record.comment,
    datagram,
    addresses: datagramAddresses(datagram),
    ...checkIcrc(frame, datagram),
  };
  if ('refusal' in decoded) return { ...common, refusal: decoded.refusal };
  const mad = madOf(decoded, capturedPayload(decoded, datagram));
  return { ...common, packet: decoded, ...(mad !== undefined && { mad }) };
}
