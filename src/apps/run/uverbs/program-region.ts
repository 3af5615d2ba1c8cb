import { registerMemory } from '../../../api/soft/index.js';
import type { Mr, Pd } from '../../../api/verbs/index.js';
import { ProcessMemory } from '../../../machine/system/index.js';
import type { GuestContext } from './guest-context.js';
import { Refusal } from './refusal.js';

/** What of a program's memory is to be registered. */
export interface ProgramRegion {
  readonly start: bigint;
  readonly length: bigint;
  /** How requests and peers name the first byte. */
  readonly iova: bigint;
  /** Bits of `AccessFlags`. */
  readonly access: number;
}

/** Registers memory of the process that opened the device. @throws VerbsError, Refusal */
export function registerProgramMemory(file: GuestContext, pd: Pd, { start, length, iova, access }: ProgramRegion): Mr {
  const end = start + length;
  // What wraps, or ends where no program has memory.
  if (length === 0n || end > BigInt(Number.MAX_SAFE_INTEGER)) throw new Refusal('EINVAL');
  return registerMemory(pd, new ProcessMemory(file.memory, Number(start), Number(length)), { iova, access });
}
