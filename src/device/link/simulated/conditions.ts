/** How one direction between two hosts treats packets. Everything can be changed while packets are under way. */
export interface LinkConditions {
  /** Time from the end of serialisation to arrival. */
  readonly delayUs: number;
  /** Up to this much is added to the delay, evenly spread. Jitter alone never lets one packet overtake another. */
  readonly jitterUs: number;
  /** Bytes of IP packets sent in a µs; Infinity sends at once. */
  readonly bandwidthBytesPerUs: number;
  /** Bytes that may wait for their turn to be sent; what finds no room is dropped (tail drop). */
  readonly queueLimitBytes: number;
  /** With more waiting than that, packets of senders that answer to marks are marked (RFC 3168), as by a switch. */
  readonly markAboveBytes: number;
  /** Largest IP packet that passes; larger ones vanish, as where a router's ICMP messages are filtered. */
  readonly mtuBytes: number;
  /** Probability, 0 to 1, that a packet is lost. */
  readonly loss: number;
  /** Packets that are lost in a row, on the average; 0 has each lost or not by itself. */
  readonly lossBurstPackets: number;
  /** Probabilities as well, that a packet ... arrives twice, */
  readonly duplication: number;
  /** ... is held back by up to {@link reorderDelayUs} while later ones go past, */
  readonly reordering: number;
  /** ... arrives with one to three of its bits turned over. */
  readonly corruption: number;
  readonly reorderDelayUs: number;
  /** Nothing passes. */
  readonly partitioned: boolean;
}

export const PERFECT_CONDITIONS: LinkConditions = {
  delayUs: 5,
  jitterUs: 0,
  bandwidthBytesPerUs: Infinity,
  queueLimitBytes: Infinity,
  markAboveBytes: Infinity,
  mtuBytes: 65535,
  loss: 0,
  lossBurstPackets: 0,
  duplication: 0,
  reordering: 0,
  corruption: 0,
  reorderDelayUs: 50,
  partitioned: false,
};

const PROBABILITIES = ['loss', 'duplication', 'reordering', 'corruption'] as const;
const SIZES = [
  'delayUs',
  'jitterUs',
  'reorderDelayUs',
  'queueLimitBytes',
  'markAboveBytes',
  'lossBurstPackets',
] as const;

/**
 * Puts changes over conditions.
 *
 * @throws RangeError for a probability outside of 0..1, a negative time or size, or a bandwidth that is not positive
 */
export function changedConditions(base: LinkConditions, changes: Partial<LinkConditions>): LinkConditions {
  const result = { ...base, ...changes };
  for (const name of PROBABILITIES) {
    if (!(result[name] >= 0 && result[name] <= 1))
      throw new RangeError(`${name} is a probability from 0 to 1, not ${result[name]}`);
  }
  for (const name of SIZES) {
    if (!(result[name] >= 0)) throw new RangeError(`${name} cannot be ${result[name]}`);
  }
  if (!(result.bandwidthBytesPerUs > 0))
    throw new RangeError(`bandwidthBytesPerUs cannot be ${result.bandwidthBytesPerUs}`);
  return result;
}
