import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  decodeFrame,
  decodePlaces,
  emptyFrame,
  encodePlaces,
  fillFrame,
  type Frame,
  Operation,
  PREFIX_BYTES,
  type RemotePlace,
} from '../../transport/rdma/frame.js';

const LIMITS = { maxHeadBytes: 1000, maxBodyBytes: 100_000 };
const HEAD = new Uint8Array(10).fill(3);

function placesOf(lengths: readonly number[]): readonly RemotePlace[] {
  return lengths.map((length, i) => ({ address: BigInt(0x1000 * i), rkey: i + 1, length }));
}

/** A frame whose body lies in pieces of such lengths, as it may be said. */
function said(lengths: readonly number[], change: Partial<Frame> = {}): Uint8Array {
  const [first, ...further] = placesOf(lengths);
  const bodyBytes = lengths.reduce((sum, length) => sum + length, 0);
  const frame: Frame = {
    ...emptyFrame(),
    operation: Operation.READ,
    headBytes: HEAD.length,
    bodyBytes,
    rkey: first.rkey,
    address: first.address,
    furtherPlaces: further.length,
    ...change,
  };
  const bytes = new Uint8Array(PREFIX_BYTES + HEAD.length + 16 * further.length);
  fillFrame(bytes, frame, HEAD, encodePlaces(further));
  return bytes;
}

/** @returns the places, or what cannot be true */
function read(bytes: Uint8Array): readonly RemotePlace[] | string {
  const frame = emptyFrame();
  return decodeFrame(bytes, bytes.length, LIMITS, frame) ?? decodePlaces(bytes, frame);
}

describe('frames of bodies that are to be READ', () => {
  for (const count of [1, 2, 256])
    it(`name ${count === 1 ? 'one place' : `${count} places`}`, () => {
      const lengths = Array.from({ length: count }, (_, i) => i + 1);
      assert.deepEqual(read(said(lengths)), placesOf(lengths));
    });

  for (const [what, bytes, lie] of [
    ['too many places', said(Array.from({ length: 257 }, () => 1)), /256 further places/],
    ['a piece of no bytes', said([10, 0]), /no bytes/],
    ['pieces as long as all of it', said([10, 5], { bodyBytes: 5 }), /longer than it is/],
    ['pieces that are longer', said([10, 5], { bodyBytes: 3 }), /longer than it is/],
    ['a body that is longer than is taken', said([100_000, 1]), /where 100000 are the most/],
    ['fewer places than it says', said([1, 2], { furtherPlaces: 2 }), /where it says/],
    ['places behind a body', said([1, 2], { operation: Operation.INLINE }), /1 further places/],
    ['places of what was written', said([1, 2], { operation: Operation.WRITTEN }), /1 further places/],
  ] as const)
    it(`are refused with ${what}`, () => {
      const told = read(bytes);
      assert.match(typeof told === 'string' ? told : 'taken', lie);
    });
});
