/** What all stores hold while they are measured: as redis-benchmark has it. */
export const KV_KEYS = 10_000;
export const VALUE_BYTES = 32;

export function kvKey(n: number): string {
  return `key:${String(n).padStart(12, '0')}`;
}
