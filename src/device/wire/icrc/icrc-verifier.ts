/** Checking the ICRC of packets whose IPv4 identification the receiver cannot see (protocol/packets.md 1.7). */
import type { PacketMeta } from '../ip/path.js';
import { BTH_BYTES, ICRC_BYTES, ROCE_PORT } from '../packets/bth.js';
import { type Crc32, multiply, stepBackFactor } from './crc32.js';
import { Opcode } from '../packets/opcode.js';
import { BYTES_FROM_IP_ID_TO_BTH, headersTwiceCrc, packetCrc, pathCrc, prefixCrc, storedIcrc } from './icrc.js';

/** Factors by the packet's length in words; a UDP payload has fewer than 2^16 bytes. 0 = not computed yet. */
const factors = new Int32Array(1 << 14);

function factorFor(bytesAfterId: number): number {
  // The two bytes of the identification itself are stepped over as well, which leaves it in the register's low half.
  const steps = bytesAfterId + 2;
  const slot = steps >> 2;
  if ((steps & 3) !== 0 || slot >= factors.length) return stepBackFactor(steps);
  let factor = factors[slot];
  if (factor === 0) {
    factor = stepBackFactor(steps);
    factors[slot] = factor;
  }
  return factor;
}

/**
 * The value in the two identification bytes that makes the difference between the ICRC received and the one computed
 * with another identification: to be XORed into the latter. -1 when no identification explains it: the packet is bad.
 *
 * @param difference received ICRC ^ computed ICRC
 * @param bytesAfterId bytes from the end of the identification to the ICRC
 */
export function recoverIpId(difference: number, bytesAfterId: number): number {
  const register = multiply(difference, factorFor(bytesAfterId));
  if (register >>> 16 !== 0) return -1;
  return ((register & 0xff) << 8) | (register >>> 8);
}

/** Paths remembered; a power of two. Two senders that fall into one slot push each other out, which costs time only. */
const SLOTS = 64;
/** Words of a slot: version and port, source, destination, the path's CRC, the ID expected next, the ID last seen. */
const STRIDE = 12;
const PORT = 0;
const SOURCE = 1;
const DESTINATION = 5;
const CRC = 9;
const NEXT_ID = 10;
const LAST_ID = 11;
/** Added to the source port to tell the IP versions apart, and a slot in use from an empty one, which holds 0. */
const IPV6_KEY = 1 << 16;
const IPV4_KEY = 1 << 17;

/** Checks ICRCs, remembering the paths that packets came by and how their senders count the identification. */
export class IcrcVerifier {
  /** Whether the FLUSH that was verified last has the ICRC of Linux's rxe ({@link headersTwiceCrc}). */
  headersTwice = false;
  readonly #crc32: Crc32;
  readonly #slots = new Int32Array(SLOTS * STRIDE);

  constructor(crc32: Crc32) {
    this.#crc32 = crc32;
  }

  /**
   * Checks the packet that begins with a BTH at `offset` and ends `length` bytes later with its ICRC.
   * One byte of it is changed and put back meanwhile.
   *
   * @returns the IPv4 identification (0 for IPv6), or -1 when the ICRC is wrong or the packet too short for one.
   * Unless `meta.ipId` tells the identification, 16 of the 32 bits check the packet; the others are spent on finding it.
   */
  verify(bytes: Uint8Array, offset: number, length: number, meta: PacketMeta): number {
    if (length < BTH_BYTES + ICRC_BYTES) return -1;
    const slots = this.#slots;
    const slot = this.#slotOf(meta);
    const known = meta.ipId;
    const ipId = known >= 0 ? known : slots[slot + NEXT_ID];
    const state = prefixCrc(meta.ipv6, slots[slot + CRC], length, ipId);
    const stored = storedIcrc(bytes, offset, length);
    const icrc = packetCrc(this.#crc32, state, bytes, offset, length);
    let difference = stored ^ icrc;
    let covered = length - ICRC_BYTES;
    if (bytes[offset] === Opcode.RC_FLUSH) {
      const other = stored ^ headersTwiceCrc(this.#crc32, icrc, bytes, offset, length);
      this.headersTwice =
        difference !== 0 && explains(meta, other, 2 * covered) && !explains(meta, difference, covered);
      if (this.headersTwice) {
        difference = other;
        covered *= 2;
      }
    }
    if (meta.ipv6) return difference === 0 ? 0 : -1;
    if (known >= 0) return difference === 0 ? known : -1;
    let found = ipId;
    if (difference !== 0) {
      const change = recoverIpId(difference, BYTES_FROM_IP_ID_TO_BTH + covered);
      if (change < 0) return -1;
      found ^= change;
    }
    // Senders either leave the identification alone or count it up, so one guess mostly saves the solving.
    const counts = ((found - slots[slot + LAST_ID]) & 0xffff) === 1;
    slots[slot + NEXT_ID] = counts ? (found + 1) & 0xffff : found;
    slots[slot + LAST_ID] = found;
    return found;
  }

  #slotOf(meta: PacketMeta): number {
    const slots = this.#slots;
    const source = meta.sourceWords;
    const destination = meta.destinationWords;
    const port = meta.sourcePort | (meta.ipv6 ? IPV6_KEY : IPV4_KEY);
    let hash = port ^ source[0] ^ source[1] ^ source[2] ^ source[3] ^ destination[3];
    hash = Math.imul(hash, 0x9e3779b1);
    const slot = (hash >>> 26) * STRIDE;
    if (
      slots[slot + PORT] !== port ||
      slots[slot + SOURCE] !== source[0] ||
      slots[slot + SOURCE + 1] !== source[1] ||
      slots[slot + SOURCE + 2] !== source[2] ||
      slots[slot + SOURCE + 3] !== source[3] ||
      slots[slot + DESTINATION] !== destination[0] ||
      slots[slot + DESTINATION + 1] !== destination[1] ||
      slots[slot + DESTINATION + 2] !== destination[2] ||
      slots[slot + DESTINATION + 3] !== destination[3]
    ) {
      slots[slot + PORT] = port;
      slots.set(source, slot + SOURCE);
      slots.set(destination, slot + DESTINATION);
      slots[slot + CRC] = pathCrc(meta.ipv6, meta.source, meta.destination, meta.sourcePort, ROCE_PORT);
      slots[slot + NEXT_ID] = 0;
      slots[slot + LAST_ID] = 0;
    }
    return slot;
  }
}

/** Whether a difference of ICRCs is none, or comes of an identification that is not known. */
function explains(meta: PacketMeta, difference: number, coveredBytes: number): boolean {
  if (difference === 0) return true;
  return !meta.ipv6 && meta.ipId < 0 && recoverIpId(difference, BYTES_FROM_IP_ID_TO_BTH + coveredBytes) >= 0;
}
