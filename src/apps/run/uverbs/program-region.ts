import type { Mr, Pd } from '../../../api/verbs/index.js';
import { Refusal } from './refusal.js';
import type { GuestContext } from './guest-context.js';

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
export function registerProgramMemory(file: GuestContext, pd: Pd, region: ProgramRegion): Mr {
  if (region.length === 0n || pd.context !== file.context) throw new Refusal('EINVAL');
  throw new Refusal('EOPNOTSUPP');
}
