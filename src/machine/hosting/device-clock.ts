import { nowUs } from '../system/index.js';

/**
 * Where `nowUs` of this thread has its zero, on the clock that all threads of a process share. A NIC counts time by its
 * own thread's, and programs that read its clock do so from another.
 */
export function clockOriginNs(): bigint {
  // In this order: what is read later than a timestamp was taken is never below it.
  const sharedNs = process.hrtime.bigint();
  return sharedNs - BigInt(Math.floor(nowUs() * 1000));
}

/** The clock of a NIC in whose thread {@link clockOriginNs} gave that, in ns. */
export function deviceClockNs(originNs: bigint): bigint {
  return process.hrtime.bigint() - originNs;
}
