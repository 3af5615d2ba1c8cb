/** So many bytes that nobody can guess. */
export function secretBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count));
}
