/** Captures made before segmentation: one long datagram is what leaves as many packets (UDP_SEGMENT, or GSO). */
import { putU16 } from '../bytes.js';
import { crc32 } from '../icrc/crc32.js';
import { storedIcrc } from '../icrc/icrc.js';
import { datagramIcrc, parseFrame, type RoceDatagram } from '../ip/ip.js';
import { BTH_BYTES, bthDestQp, bthPsn, ICRC_BYTES } from '../packets/bth.js';
import { opcodeHeaderBytes } from '../packets/opcode.js';

/** Packets are as long as a multiple of this many bytes. */
const PAD_BYTES = 4;
const UDP_BYTES = 8;
const IPV6_BYTES = 40;
const PSN_MASK = 0xffffff;
const PSN_HALF = 0x800000;

/** A frame of its own for the `n`th of the packets in a long datagram, with the headers that the system will give it. */
function cut(frame: Uint8Array, datagram: RoceDatagram, begin: number, lengthBytes: number, n: number): Uint8Array {
  const { ipv6, ipId, ipOffset, offset } = datagram;
  const one = new Uint8Array(offset + lengthBytes);
  one.set(frame.subarray(0, offset));
  one.set(frame.subarray(begin, begin + lengthBytes), offset);
  putU16(one, offset - 4, UDP_BYTES + lengthBytes);
  if (ipv6) putU16(one, ipOffset + 4, offset - ipOffset - IPV6_BYTES + lengthBytes);
  else {
    putU16(one, ipOffset + 2, offset - ipOffset + lengthBytes);
    putU16(one, ipOffset + 4, (ipId + n) & 0xffff);
  }
  return one;
}

function hasRightIcrc(linkType: number, frame: Uint8Array): boolean {
  const datagram = parseFrame(linkType, frame);
  if (typeof datagram === 'string') return false;
  return datagramIcrc(crc32, frame, datagram) === storedIcrc(frame, datagram.offset, datagram.length);
}

/**
 * The frames that a long datagram is cut into on its way out: all of one length, but for the last. How long they are nobody
 * tells; but where the second begins its PSN comes later, and with the right length the first has a right ICRC.
 *
 * @param frame of a packet with a wrong ICRC
 * @returns nothing for what is one packet, or cannot be cut so
 */
export function segmentsOf(linkType: number, frame: Uint8Array): readonly Uint8Array[] {
  const datagram = parseFrame(linkType, frame);
  if (typeof datagram === 'string') return [];
  const { offset, length, capturedLength, roceVersion } = datagram;
  if (roceVersion !== 2 || capturedLength < length) return [];
  const shortest = opcodeHeaderBytes[frame[offset]] + ICRC_BYTES;
  for (let size = shortest; size <= length - BTH_BYTES - ICRC_BYTES; size += PAD_BYTES) {
    const next = offset + size;
    const distance = (bthPsn(frame, next) - bthPsn(frame, offset)) & PSN_MASK;
    // A READ takes a PSN for each of its answers.
    const follows = distance > 0 && distance < PSN_HALF && bthDestQp(frame, next) === bthDestQp(frame, offset);
    if (!follows) continue;
    if (!hasRightIcrc(linkType, cut(frame, datagram, offset, size, 0))) continue;
    return Array.from({ length: Math.ceil(length / size) }, (_, n) =>
      cut(frame, datagram, offset + n * size, Math.min(size, length - n * size), n),
    );
  }
  return [];
}
