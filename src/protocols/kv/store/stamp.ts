/** 0 is never. */
const EARLIEST_MS = 1;
const LATEST_MS = 2 ** 48 - 1;

/**
 * What is written with a key and its value: a version, 64 bits that only rise, in halves since a bigint would be allocated for each; and when it expires, in a field since
 * V8 allocates for a time that is handed on.
 */
export class Stamp {
  /** Signed, as an Int32Array holds them. */
  versionLow: number;
  versionHigh: number;
  /** 0: never. */
  expiresAtMs = 0;

  /** @param lastVersion 64 bits: the first version is the one after it */
  constructor(lastVersion: bigint) {
    this.versionLow = lowOf(lastVersion);
    this.versionHigh = highOf(lastVersion);
  }

  get version(): bigint {
    return (BigInt(this.versionHigh >>> 0) << 32n) | BigInt(this.versionLow >>> 0);
  }

  /** The next version is the one after that. */
  continueAfter(version: bigint): void {
    this.versionLow = lowOf(version);
    this.versionHigh = highOf(version);
  }

  nextVersion(): void {
    this.versionLow = (this.versionLow + 1) | 0;
    if (this.versionLow === 0) this.versionHigh = (this.versionHigh + 1) | 0;
  }

  /** @param ttlMs 0: never; less: at once */
  expireIn(ttlMs: number, nowMs: number): void {
    this.expiresAtMs = ttlMs === 0 ? 0 : Math.max(EARLIEST_MS, Math.min(LATEST_MS, Math.floor(nowMs + ttlMs)));
  }
}

function lowOf(version: bigint): number {
  return Number(BigInt.asIntN(32, version));
}

function highOf(version: bigint): number {
  return Number(BigInt.asIntN(32, version >> 32n));
}
