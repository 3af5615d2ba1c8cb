import { nowUs } from '../system/index.js';

/** The clock that all threads of a process share, in ns, and that of this thread, in µs. */
export interface Clocks {
  readonly sharedNs: () => bigint;
  readonly ownUs: () => number;
}

const CLOCKS: Clocks = { sharedNs: () => process.hrtime.bigint(), ownUs: nowUs };
/** How often the two clocks are compared: a thread that loses its processor between the two loses it once in far more. */
const LOOKS = 16;

/**
 * Where `nowUs` of this thread has its zero, on the clock that all threads of a process share. A NIC counts time by its
 * own thread's, and programs that read its clock do so from another.
 */
export function clockOriginNs({ sharedNs, ownUs }: Clocks = CLOCKS): bigint {
  let [originNs, closestNs] = [0n, -1n];
  for (let look = 0; look < LOOKS; look += 1) {
    // In this order: what is read later than a timestamp was taken is never below it.
    const beforeNs = sharedNs();
    const ownNs = BigInt(Math.floor(ownUs() * 1000));
    // The longer that took, the further may the clock of the NIC be ahead of its timestamps.
    const tookNs = sharedNs() - beforeNs;
    if (closestNs >= 0n && tookNs >= closestNs) continue;
    [originNs, closestNs] = [beforeNs - ownNs, tookNs];
  }
  return originNs;
}

/** The clock of a NIC in whose thread {@link clockOriginNs} gave that, in ns. */
export function deviceClockNs(originNs: bigint): bigint {
  return process.hrtime.bigint() - originNs;
}
