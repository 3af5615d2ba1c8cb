import { randomFillSync } from 'node:crypto';

const WORDS = 256;
const words = new Uint32Array(WORDS);
let used = WORDS;

/** 32 unpredictable bits, 0 to 2^32 - 1, from the system's CSPRNG. */
export function randomU32(): number {
  if (used === WORDS) {
    randomFillSync(words);
    used = 0;
  }
  const word = words[used];
  // A key once given out is not left lying about.
  words[used] = 0;
  used += 1;
  return word;
}
