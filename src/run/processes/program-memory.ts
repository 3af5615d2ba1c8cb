import { NativeBlock, readProcess, writeProcess } from '../../node/system/index.js';

/** Bytes that are copied at a time: no command is longer. */
const BLOCK_BYTES = 65536;
const PAGE_BYTES = 4096;
const block = new NativeBlock(BLOCK_BYTES);

/**
 * Reads so many bytes of a program's memory.
 *
 * @param tid of one of its threads
 * @returns undefined where they are not all there
 */
export function readProgram(tid: number, address: number, lengthBytes: number): Uint8Array | undefined {
  if (lengthBytes > BLOCK_BYTES) return undefined;
  if (readProcess(tid, address, block.address, lengthBytes) !== lengthBytes) return undefined;
  return block.bytes.slice(0, lengthBytes);
}

/** Writes into a program's memory. @returns whether all was written */
export function writeProgram(tid: number, address: number, bytes: Uint8Array): boolean {
  if (bytes.length > BLOCK_BYTES) return false;
  block.bytes.set(bytes);
  return writeProcess(tid, address, block.address, bytes.length) === bytes.length;
}

/**
 * Whether so many bytes of a program's memory can be written; they keep their values. A command that cannot be taken back asks
 * before it takes effect, since its answer must reach the program.
 */
export function canWriteProgram(tid: number, address: number, lengthBytes: number): boolean {
  if (lengthBytes > BLOCK_BYTES) return false;
  if (readProcess(tid, address, block.address, lengthBytes) !== lengthBytes) return false;
  return writeProcess(tid, address, block.address, lengthBytes) === lengthBytes;
}

/** Reads a text that ends with a 0, up to so many bytes. @returns undefined where there is none */
export function readText(tid: number, address: number, maxBytes: number): string | undefined {
  // What comes after the page may not be there, and need not be.
  const toPageEnd = PAGE_BYTES - (address % PAGE_BYTES);
  const first = readProcess(tid, address, block.address, Math.min(maxBytes, toPageEnd));
  if (first === 0) return undefined;
  let end = block.bytes.subarray(0, first).indexOf(0);
  if (end < 0 && first < maxBytes) {
    const more = readProcess(tid, address + first, block.address + first, maxBytes - first);
    end = block.bytes.subarray(0, first + more).indexOf(0);
  }
  return end < 0 ? undefined : Buffer.from(block.bytes.buffer, 0, end).toString('latin1');
}
