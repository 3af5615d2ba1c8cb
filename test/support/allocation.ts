import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const ROUNDS = 200_000;
/** What the compilers of V8 allocate meanwhile is not in all of them. */
const MEASUREMENTS = 5;

/** More than V8 takes for itself in each of so many rounds on a busy machine, and less than its smallest object in every fourth of them. */
export const NO_OBJECT_BYTES = 4;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes that are allocated by each of many rounds, once all is warm. */
export function bytesPerRound(round: () => void): number {
  for (let i = 0; i < ROUNDS; i += 1) round();
  const measurements = Array.from({ length: MEASUREMENTS }, () => {
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < ROUNDS; i += 1) round();
    return (process.memoryUsage().heapUsed - before) / ROUNDS;
  });
  return Math.min(...measurements);
}
