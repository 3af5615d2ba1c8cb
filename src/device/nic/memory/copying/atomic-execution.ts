import {
  atomicEthCompareHi,
  atomicEthCompareLo,
  atomicEthSwapHi,
  atomicEthSwapLo,
  Opcode,
} from '../../../wire/index.js';
import type { RegionMemory } from '../region-memory.js';
import type { AtomicOperation } from './foreign-memory.js';
import { copyBytes } from './word-copy.js';

/** The bits of an opcode that say which operation it is, whatever the service (protocol/packets.md 1.2). */
const OPERATION = 0x1f;

/**
 * Executes the atomic whose AtomicETH lies at `at` on the 64-bit word at `offset` of a region. The word is
 * little-endian, as every host that we run on stores it (protocol/packets.md 1.3).
 *
 * @param answer - takes the value found, big-endian as it goes on the wire
 */
export function executeAtomic(
  opcode: number,
  bytes: Uint8Array,
  at: number,
  region: RegionMemory,
  offset: number,
  answer: Uint8Array,
): void {
  const { view } = region;
  const lo = view.getInt32(offset, true);
  const hi = view.getInt32(offset + 4, true);
  for (let i = 0; i < 8; i += 1) answer[i] = region.bytes[offset + 7 - i];
  const operandHi = atomicEthSwapHi(bytes, at);
  const operandLo = atomicEthSwapLo(bytes, at);
  if ((opcode & OPERATION) === Opcode.RC_COMPARE_SWAP) {
    if (lo !== atomicEthCompareLo(bytes, at) || hi !== atomicEthCompareHi(bytes, at)) return;
    view.setInt32(offset, operandLo, true);
    view.setInt32(offset + 4, operandHi, true);
  } else {
    // FETCH_ADD has its addend in the swap field.
    const sum = (lo >>> 0) + (operandLo >>> 0);
    view.setInt32(offset, sum | 0, true);
    view.setInt32(offset + 4, (hi + operandHi + (sum >= 2 ** 32 ? 1 : 0)) | 0, true);
  }
}

/** The same request in words, for memory that carries it out itself. */
export function atomicOperation(opcode: number, bytes: Uint8Array, at: number): AtomicOperation {
  const operand = joined(atomicEthSwapHi(bytes, at), atomicEthSwapLo(bytes, at));
  const swaps = (opcode & OPERATION) === Opcode.RC_COMPARE_SWAP;
  const compare = swaps ? joined(atomicEthCompareHi(bytes, at), atomicEthCompareLo(bytes, at)) : undefined;
  return { compare, operand };
}

function joined(hi: number, lo: number): bigint {
  return (BigInt(hi >>> 0) << 32n) | BigInt(lo >>> 0);
}

const word = new BigInt64Array(1);
const wordBytes = new Uint8Array(word.buffer);

/**
 * Executes an ATOMIC_WRITE whose eight bytes lie at `at`: they go to memory as they are, and where the memory is aligned
 * to eight bytes, all at once, so that a program never reads a part of them (protocol/reliable.md 2.10; man ibv_wr_atomic_write).
 */
export function executeAtomicWrite(bytes: Uint8Array, at: number, region: RegionMemory, offset: number): void {
  const place = region.bytes.byteOffset + offset;
  if ((place & 7) !== 0) {
    copyBytes(region.bytes, offset, bytes, at, 8);
    return;
  }
  for (let i = 0; i < 8; i += 1) wordBytes[i] = bytes[at + i];
  region.quadwords[place / 8] = word[0];
}
