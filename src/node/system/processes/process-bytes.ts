import { NativeBlock } from '../memory/memory.js';
import { requireNativeHost } from '../native.js';
import { readFileSync } from 'node:fs';

/** `struct iovec`, one of our memory and one of theirs. */
const IOVEC_BYTES = 16;
const iovecs = { here: undefined as NativeBlock | undefined, there: undefined as NativeBlock | undefined };

function describe(hereAddress: number, thereAddress: number, lengthBytes: number): { here: number; there: number } {
  const here = (iovecs.here ??= new NativeBlock(IOVEC_BYTES));
  const there = (iovecs.there ??= new NativeBlock(IOVEC_BYTES));
  here.putPointer(0, hereAddress);
  here.putPointer(8, lengthBytes);
  there.putPointer(0, thereAddress);
  there.putPointer(8, lengthBytes);
  return { here: here.address, there: there.address };
}

/**
 * Copies from another process's memory.
 *
 * @param pid of the process, or of one of its threads
 * @param to the address of `lengthBytes` bytes of ours
 * @returns how many were copied: fewer where its memory ends or may not be read, 0 where none can be
 */
export function readProcess(pid: number, address: number, to: number, lengthBytes: number): number {
  if (lengthBytes === 0) return 0;
  const { here, there } = describe(to, address, lengthBytes);
  return Math.max(0, requireNativeHost().libc.processVmReadv(pid, here, 1, there, 1, 0));
}

/** Copies into another process's memory. Arguments and result as {@link readProcess}. */
export function writeProcess(pid: number, address: number, from: number, lengthBytes: number): number {
  if (lengthBytes === 0) return 0;
  const { here, there } = describe(from, address, lengthBytes);
  return Math.max(0, requireNativeHost().libc.processVmWritev(pid, here, 1, there, 1, 0));
}

export interface BlockedCall {
  readonly number: number;
  /** Those above 2^53 are rounded. */
  readonly args: readonly number[];
  readonly stackPointer: number;
}

/** What `/proc/TID/syscall` shows: the call that a thread is blocked in, or undefined where it is in none or gone. */
export function blockedCall(tid: number): BlockedCall | 'running' | undefined {
  let words: readonly string[];
  try {
    words = readFileSync(`/proc/${tid}/syscall`, 'latin1').trim().split(' ');
  } catch {
    return undefined;
  }
  if (words[0] === 'running') return 'running';
  // The number, six arguments, the stack pointer, the program counter; outside of a call `-1` and the last two.
  if (words.length < 9) return undefined;
  const numbers = words.map(Number);
  return { number: numbers[0], args: numbers.slice(1, 7), stackPointer: numbers[7] };
}
