/** PSNs in the order in which they were used. */
import { psnDiff } from '../../../entry/index.js';
import { psnOf, type Sighting } from './sighting.js';

/**
 * Counts packets from a first one on. PSNs begin again after 2^24 packets; what is asked about is therefore counted from
 * what the same file showed last.
 */
export function places(first: Sighting): (sighting: Sighting) => number {
  const base = psnOf(first);
  const last = new Map<number, { psn: number; place: number }>();
  return (sighting) => {
    const psn = psnOf(sighting);
    const before = last.get(sighting.file) ?? { psn: base, place: 0 };
    const place = before.place + psnDiff(psn, before.psn);
    last.set(sighting.file, { psn, place });
    return place;
  };
}
