import { AccessFlags } from '../../src/spec/index.js';
import type { Nic } from '../../src/nic/index.js';
import { hi32, lo32 } from '../nic/rings.js';
import type { Choices } from './random.js';

const CANARY_BYTES = 64;
const CANARY = 0xa5;
const { LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC, MW_BIND, ZERO_BASED, FLUSH_GLOBAL } = AccessFlags;
const WRITABLE = LOCAL_WRITE | REMOTE_WRITE | REMOTE_ATOMIC;

/** One of each kind that makes a difference to a peer. */
const KINDS: readonly number[] = [
  0,
  LOCAL_WRITE,
  REMOTE_READ,
  LOCAL_WRITE | REMOTE_WRITE,
  LOCAL_WRITE | REMOTE_ATOMIC,
  LOCAL_WRITE | REMOTE_READ | REMOTE_WRITE | REMOTE_ATOMIC | FLUSH_GLOBAL,
  LOCAL_WRITE | REMOTE_READ | REMOTE_WRITE | ZERO_BASED,
  LOCAL_WRITE | MW_BIND,
];

/** A registered region of the NIC under test. */
export interface FuzzRegion {
  readonly iova: bigint;
  readonly bytes: Uint8Array;
  readonly access: number;
  readonly handle: number;
  readonly lkey: number;
  readonly rkey: number;
}

/** All memory of the NIC under test: regions of every kind in one arena, with canaries between them. */
export class FuzzMemory {
  readonly regions: FuzzRegion[] = [];
  readonly #arena: Uint8Array;
  readonly #canaries: Uint8Array[] = [];
  readonly #snapshot: Uint8Array;

  constructor(nic: Nic, pds: readonly number[], regionBytes: number) {
    const stride = regionBytes + CANARY_BYTES;
    const count = KINDS.length * pds.length;
    this.#arena = new Uint8Array(count * stride + CANARY_BYTES).fill(CANARY);
    this.#canaries.push(this.#arena.subarray(0, CANARY_BYTES));
    let at = CANARY_BYTES;
    for (const pd of pds) {
      for (const access of KINDS) {
        const bytes = this.#arena.subarray(at, at + regionBytes);
        for (let i = 0; i < regionBytes; i += 1) bytes[i] = (i * 7 + access) & 0xff;
        const iova = (access & ZERO_BASED) === 0 ? 0x7f00_0000_0000n + BigInt(at) : 0n;
        const attributes = { pd, bytes, access, iovaHi: hi32(iova), iovaLo: lo32(iova) };
        this.regions.push({ iova, bytes, access, ...nic.control.regMr(attributes) });
        this.#canaries.push(this.#arena.subarray(at + regionBytes, at + stride));
        at += stride;
      }
    }
    this.#snapshot = this.#arena.slice();
  }

  /** A region that local requests may read and write. */
  scratch(choices: Choices, pdIndex: number): FuzzRegion {
    return this.regions[pdIndex * KINDS.length + choices.of([1, 5])];
  }

  /** Remembers all bytes, for {@link changed}. */
  remember(): void {
    this.#snapshot.set(this.#arena);
  }

  /** Whether any byte differs from what was remembered. */
  get changed(): boolean {
    return Buffer.compare(this.#snapshot, this.#arena) !== 0;
  }

  /** @throws Error when a byte beside a region was written, or one in a region that nobody may write to */
  check(): void {
    for (const canary of this.#canaries)
      if (!canary.every((byte) => byte === CANARY)) throw new Error('bytes beside a memory region were written');
    for (const { bytes, access } of this.regions) {
      if ((access & WRITABLE) !== 0) continue;
      if (!bytes.every((byte, i) => byte === ((i * 7 + access) & 0xff)))
        throw new Error(`a region with access 0x${access.toString(16)} was written`);
    }
  }
}
