import type { Direction } from './direction.js';
import type { SeededRandom } from './random.js';

/** What chance has done to packets so far. */
export interface ChanceCounts {
  lost: number;
  duplicated: number;
  reordered: number;
  corrupted: number;
}

/** What becomes of one packet. One object is reused for all. */
export class Fate {
  /** When it arrives, in µs; -1 when it never does. */
  arrivalUs = -1;
  /** When it arrives a second time, unchanged; -1 when it does not. */
  duplicateUs = -1;
  /** Bits that are turned over on the way. */
  readonly flips: number[] = [];

  /** Has chance decide, by the conditions of a direction, about a packet whose last bit leaves at `departureUs`. */
  draw(direction: Direction, departureUs: number, bytes: number, random: SeededRandom, counts: ChanceCounts): void {
    const { conditions } = direction;
    this.arrivalUs = -1;
    this.duplicateUs = -1;
    this.flips.length = 0;
    if (direction.loses(random)) {
      counts.lost += 1;
      return;
    }
    if (random.chance(conditions.duplication)) {
      counts.duplicated += 1;
      this.duplicateUs = direction.straying(departureUs, random.fraction() * conditions.reorderDelayUs);
    }
    if (random.chance(conditions.corruption)) {
      counts.corrupted += 1;
      drawFlips(this.flips, bytes, random);
    }
    if (random.chance(conditions.reordering)) {
      counts.reordered += 1;
      this.arrivalUs = direction.straying(departureUs, random.fraction() * conditions.reorderDelayUs);
    } else {
      this.arrivalUs = direction.arrival(departureUs, random);
    }
  }
}

/** Chooses one to three different bits; turning over so few escapes no CRC-32 over a packet of this size. */
export function drawFlips(flips: number[], bytes: number, random: SeededRandom): void {
  const wanted = random.between(1, 3);
  while (flips.length < wanted) {
    const bit = random.below(8 * bytes);
    if (!flips.includes(bit)) flips.push(bit);
  }
}

export function flipBits(packet: Uint8Array, offset: number, flips: readonly number[]): void {
  for (const bit of flips) packet[offset + (bit >> 3)] ^= 1 << (bit & 7);
}
