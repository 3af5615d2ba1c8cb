import { AccessFlags } from '../../../entry/index.js';
import type { Choices } from '../../../../test/fuzz/random.js';
import type { FuzzMemory, Zone } from './memory.js';

const { LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC, MW_BIND, ZERO_BASED } = AccessFlags;
const FULL = LOCAL_WRITE | REMOTE_READ | REMOTE_WRITE | REMOTE_ATOMIC | MW_BIND;

/** Memory that a program registers, or tries to. */
export interface ChosenRegion {
  readonly start: bigint;
  readonly length: bigint;
  readonly access: number;
  /** As `FuzzMemory.sealed`. */
  readonly sealed?: boolean;
}

export function chooseRegion(memory: FuzzMemory, choices: Choices): ChosenRegion {
  const inside = ({ at, bytes }: Zone, access: number) => {
    const offset = choices.below(bytes.length);
    return { start: BigInt(at + offset), length: BigInt(1 + choices.below(bytes.length - offset)), access };
  };
  if (choices.chance(10)) return { ...inside(memory.sealed, LOCAL_WRITE), sealed: true };
  if (choices.chance(10)) return inside(memory.readOnly, choices.of([0, REMOTE_READ, MW_BIND, REMOTE_READ | MW_BIND]));
  if (choices.chance(90)) {
    const access = choices.chance(80)
      ? FULL
      : choices.of([0, LOCAL_WRITE, REMOTE_WRITE, ZERO_BASED | FULL, choices.u32() >>> 0]);
    return inside(memory.open, access);
  }
  const lengths = [0n, 1n, 4096n, 2n ** 31n];
  if (choices.chance(50))
    return { start: BigInt(memory.open.at), length: choices.of([...lengths, 2n ** 64n - 1n]), access: FULL };
  const start = choices.of([0n, 1n, 2n ** 47n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n]);
  return { start, length: start < 4096n ? BigInt(1 + choices.below(4095)) : choices.of(lengths), access: FULL };
}
