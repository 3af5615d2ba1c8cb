import { AtomicOp } from '../../wire/index.js';
import type { AtomicRequest } from '../endpoint.js';

type Operation = (before: bigint, value: bigint, compare: bigint) => bigint;

const OPERATIONS: Readonly<Record<AtomicOp, Operation>> = {
  [AtomicOp.ADD]: (before, value) => before + value,
  [AtomicOp.AND]: (before, value) => before & value,
  [AtomicOp.OR]: (before, value) => before | value,
  [AtomicOp.XOR]: (before, value) => before ^ value,
  [AtomicOp.SWAP]: (_, value) => value,
  [AtomicOp.CSWAP]: (before, value, compare) => (before === compare ? value : before),
};

type Operands = Pick<AtomicRequest, 'op' | 'bytes' | 'value' | 'compare'>;

/** Carries out an atomic on a word, in the order of bytes that all hosts here have. @returns what was there before */
export function operate(word: Uint8Array, { op, bytes, value, compare = 0n }: Operands): bigint {
  const view = new DataView(word.buffer, word.byteOffset, bytes);
  const bits = 8 * bytes;
  const before = bytes === 4 ? BigInt(view.getUint32(0, true)) : view.getBigUint64(0, true);
  const after = BigInt.asUintN(
    bits,
    OPERATIONS[op](before, BigInt.asUintN(bits, value), BigInt.asUintN(bits, compare)),
  );
  if (bytes === 4) view.setUint32(0, Number(after), true);
  else view.setBigUint64(0, after, true);
  return before;
}
