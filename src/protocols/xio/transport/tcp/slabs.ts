/** Memory that frames are put together in before they are written. */
export interface Slab {
  readonly bytes: Uint8Array;
  /** How much of it is filled. */
  filledBytes: number;
}

/** Longer than the longest frame whose body goes along. */
export const SLAB_BYTES = 65_536;
/** As many are kept while nobody uses them. */
const MAX_SPARE = 16;

const spare: Slab[] = [];

/** An empty slab. Links that have nothing to send have none. */
export function takeSlab(): Slab {
  return spare.pop() ?? { bytes: new Uint8Array(SLAB_BYTES), filledBytes: 0 };
}

/** Nobody reads it any more. */
export function giveSlab(slab: Slab): void {
  slab.filledBytes = 0;
  if (spare.length < MAX_SPARE) spare.push(slab);
}
