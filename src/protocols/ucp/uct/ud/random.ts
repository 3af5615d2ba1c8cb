/** 32 bits that nobody can guess. */
export function secretRandom(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0];
}
