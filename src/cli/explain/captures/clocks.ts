/** One clock for several files: the clocks that wrote them may differ. */
import type { Sighting } from './sighting.js';

/** When a message of connection managers was first seen leaving, or arriving: µs since the first frame of its file. */
type FirstSeen = ReadonlyMap<string, number>;

function firstSeen(sightings: readonly Sighting[], file: number, direction: 'in' | 'out'): FirstSeen {
  const first = new Map<string, number>();
  for (const { cm, damaged, source, destination, timeUs, ...seen } of sightings) {
    if (cm === undefined || damaged || seen.file !== file || seen.direction !== direction) continue;
    const name = `${source} ${destination} ${cm.attribute} ${String(cm.transactionId)}`;
    if (!first.has(name)) first.set(name, timeUs);
  }
  return first;
}

/** By how much each message came later than it left, by the clocks of two files. */
function delays(left: FirstSeen, came: FirstSeen): number[] {
  return [...came].flatMap(([name, timeUs]) => {
    const leftUs = left.get(name);
    return leftUs === undefined ? [] : [timeUs - leftUs];
  });
}

/**
 * What is to be added to the times of a file so that nothing arrives before it was sent.
 *
 * @param shiftUs the same by the two clocks, which may be right
 */
function causal(sightings: readonly Sighting[], file: number, shiftUs: number): number {
  const there = delays(firstSeen(sightings, 0, 'out'), firstSeen(sightings, file, 'in'));
  const back = delays(firstSeen(sightings, file, 'out'), firstSeen(sightings, 0, 'in'));
  const least = there.reduce((most, delay) => Math.max(most, -delay), -Infinity);
  const most = back.reduce((min, delay) => Math.min(min, delay), Infinity);
  if (shiftUs >= least && shiftUs <= most) return shiftUs;
  if (least === -Infinity) return most;
  return most === Infinity ? least : (least + most) / 2;
}

/**
 * For each file, the µs to add to its times, which begin with its first frame, so that all are since the first frame of
 * the earliest: by the clocks of the hosts, and where these contradict each other, by the messages that both saw.
 *
 * @param startsNs when each file's first frame was written; undefined for a file without frames
 */
export function clockShifts(sightings: readonly Sighting[], startsNs: readonly (bigint | undefined)[]): number[] {
  const originNs = startsNs.find((startNs) => startNs !== undefined) ?? 0n;
  const shifts = startsNs.map((startNs, file) => {
    const shiftUs = startNs === undefined ? 0 : Number(startNs - originNs) / 1000;
    return file === 0 ? shiftUs : causal(sightings, file, shiftUs);
  });
  const earliest = Math.min(...shifts.filter((_, file) => startsNs[file] !== undefined));
  return shifts.map((shiftUs) => (Number.isFinite(earliest) ? shiftUs - earliest : 0));
}
