import type { SeededRandom } from '../../../../device/link/index.js';

/** Bytes by chance. */
export function randomBytes(random: SeededRandom, length: number): Uint8Array {
  const words = Uint32Array.from({ length: Math.ceil(length / 4) }, random.u32);
  return new Uint8Array(words.buffer, 0, length);
}
