import { readFileSync } from 'node:fs';

/** A system call that a thread is blocked in. */
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
