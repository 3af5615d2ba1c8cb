import { type Landed, landedBytes, Unpacking, UcpTyped } from './datatype.js';
import { type Destination, destinationOf, type UcpData } from './pieces.js';

/** Where the program wants what it receives. */
export interface Landing {
  /** What has to be filled. */
  readonly buffer: Uint8Array;
  /** What a receive gives, once all is where the program wants it. @param begin begins it */
  landed<R extends Landed>(begin: () => Promise<R>): Promise<R>;
}

/** @param into of which `checkPieces` has nothing to say. @throws what the program throws; VerbsError EINVAL where it unpacks what makes no sense, ENOMEM for too much */
export function landingOf(call: string, into: UcpData): Landing {
  if (into instanceof UcpTyped) return new Unpacking(call, into);
  const destination = destinationOf(into);
  const buffer = destination.whole;
  if (into instanceof Uint8Array) return { buffer, landed: (begin) => begin() };
  return { buffer, landed: (begin) => scattered(begin(), destination) };
}

async function scattered<R extends Landed>(receiving: Promise<R>, destination: Destination): Promise<R> {
  const received = await receiving;
  destination.spread(landedBytes(received));
  return received;
}
