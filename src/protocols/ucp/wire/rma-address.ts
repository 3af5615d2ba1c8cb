// Where an operation by message is to find its memory. UCX's messages say an address of the target's and nothing else, so that whoever guesses one has the
// memory. The address is the target's to choose; here it names the key and the place within its memory, and so is as hard to guess as the key is.

const OFFSET_BITS = 32n;

/** Places beyond cannot be named. */
export const MAX_RMA_OFFSET = 2 ** 32 - 1;

/** A place in memory that a key is for. */
export interface RmaPlace {
  readonly rkey: number;
  /** From the beginning of the memory, 0 to {@link MAX_RMA_OFFSET}. */
  readonly offset: number;
}

export function rmaAddress({ rkey, offset }: RmaPlace): bigint {
  return (BigInt(rkey >>> 0) << OFFSET_BITS) | BigInt(offset);
}

export function rmaPlace(address: bigint): RmaPlace {
  return {
    rkey: Number(BigInt.asUintN(32, address >> OFFSET_BITS)),
    offset: Number(BigInt.asUintN(32, address)),
  };
}
