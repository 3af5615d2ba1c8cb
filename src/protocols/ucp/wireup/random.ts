const UUID_WORDS = 1;

/** 64 bits that nobody can guess. */
export function secretUuid(): bigint {
  return crypto.getRandomValues(new BigUint64Array(UUID_WORDS))[0];
}

/** 1 to 2^32 - 1, which nobody can guess. */
export function secretCall(): number {
  for (;;) {
    const [call] = crypto.getRandomValues(new Uint32Array(1));
    if (call !== 0) return call;
  }
}
