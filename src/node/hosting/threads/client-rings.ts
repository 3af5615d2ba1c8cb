import { createAsyncEventRing, createCmEventRing } from '../../../device/adapter/index.js';
import { doorbellPageShape, RING_HEADER_WORDS } from '../../../device/nic/index.js';

/** The memory by which a client and a NIC in another thread meet. */
export interface ClientRings {
  readonly doorbells: ArrayBufferLike;
  readonly asyncEvents: ArrayBufferLike;
  readonly cmEvents: ArrayBufferLike;
}

const MOST_SPARE = 64;

/**
 * Rings of clients of this thread that have left. V8 does not count shared memory when it decides whether to collect, so a program
 * whose clients come and go would fill the machine with rings that nobody has any more.
 */
const spare: ClientRings[] = [];

/** Rings for one client, empty. */
export function takeRings(): ClientRings {
  const rings = spare.pop();
  if (rings === undefined)
    return {
      doorbells: new SharedArrayBuffer(doorbellPageShape().bytes),
      asyncEvents: createAsyncEventRing(true),
      cmEvents: createCmEventRing(true),
    };
  for (const memory of [rings.doorbells, rings.asyncEvents, rings.cmEvents])
    new Int32Array(memory, 0, RING_HEADER_WORDS).fill(0);
  return rings;
}

/** Of a client that the NIC knows no more. */
export function giveBackRings(rings: ClientRings): void {
  if (spare.length < MOST_SPARE) spare.push(rings);
}
