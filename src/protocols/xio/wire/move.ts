import { addressesIn, encodeAddresses, MAX_ADDRESS_BYTES, MAX_ADDRESSES } from './addresses.js';
import { viewOf } from './fields.js';

// What the header of MOVE carries: 0 addresses 2 | 2 {length 2, address}...

const COUNT_BYTES = 2;
/** The longest header of MOVE. */
export const MOST_MOVE_BYTES = COUNT_BYTES + MAX_ADDRESS_BYTES;

/** @param addresses where the session goes on, 1 to {@link MAX_ADDRESSES} */
export function encodeMove(addresses: readonly string[]): Uint8Array {
  const texts = encodeAddresses(addresses);
  const bytes = new Uint8Array(COUNT_BYTES + texts.length);
  viewOf(bytes).setUint16(0, addresses.length);
  bytes.set(texts, COUNT_BYTES);
  return bytes;
}

/** @returns the addresses; or a sentence that says what is wrong */
export function decodeMove(bytes: Uint8Array): readonly string[] | string {
  if (bytes.length < COUNT_BYTES) return `MOVE has ${bytes.length} bytes, where ${COUNT_BYTES} are the least`;
  const count = viewOf(bytes).getUint16(0);
  if (count === 0) return 'MOVE sends the session on to nobody';
  if (count > MAX_ADDRESSES) return `MOVE has ${count} addresses, where ${MAX_ADDRESSES} are the most`;
  const texts = addressesIn(bytes, COUNT_BYTES, count);
  return texts?.end === bytes.length ? texts.addresses : 'MOVE is not as long as its parts';
}
