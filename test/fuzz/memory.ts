import { AccessFlags, MwType } from '../../src/device/ibta/index.js';
import type { Nic } from '../../src/device/nic/index.js';
import { hi32, lo32 } from '../../src/device/nic/test/rings.js';
import type { Choices } from './random.js';
import { CANARY, SECRET } from './sink.js';

const CANARY_BYTES = 64;
const WINDOW_OFFSET = 256n;
const WINDOW_BYTES = 512;
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

/** What a region holds in the beginning, and for ever where nobody may write. */
function initial(access: number, at: number): number {
  return access === 0 ? SECRET : (at * 7 + access) & 0xff;
}

/** A registered region of the NIC under test. */
export interface FuzzRegion {
  readonly iova: bigint;
  readonly bytes: Uint8Array;
  readonly access: number;
  /** No queue pair is in its domain. */
  readonly deserted: boolean;
  readonly handle: number;
  readonly lkey: number;
  readonly rkey: number;
}

/** A window on a region of the NIC under test: an R_Key that peers may invalidate, and that is then bound again. */
interface FuzzWindow {
  readonly region: FuzzRegion;
  readonly type: MwType;
  rkey: number;
  readonly qpn: number;
  readonly pd: number;
}

/** All memory of the NIC under test: regions of every kind in one arena, with canaries between them. */
export class FuzzMemory {
  readonly regions: FuzzRegion[] = [];
  readonly #windows: FuzzWindow[] = [];
  readonly #arena: Uint8Array;
  readonly #canaries: Uint8Array[] = [];
  readonly #snapshot: Uint8Array;

  /** @param deserted - a protection domain in which there is no queue pair */
  constructor(nic: Nic, pds: readonly number[], deserted: number, regionBytes: number) {
    const stride = regionBytes + CANARY_BYTES;
    const count = KINDS.length * (pds.length + 1);
    this.#arena = new Uint8Array(count * stride + CANARY_BYTES).fill(CANARY);
    this.#canaries.push(this.#arena.subarray(0, CANARY_BYTES));
    let at = CANARY_BYTES;
    for (const pd of [...pds, deserted]) {
      for (const access of KINDS) {
        const bytes = this.#arena.subarray(at, at + regionBytes);
        for (let i = 0; i < regionBytes; i += 1) bytes[i] = pd === deserted ? SECRET : initial(access, i);
        const iova = (access & ZERO_BASED) === 0 ? 0x7f00_0000_0000n + BigInt(at) : 0n;
        const attributes = { pd, bytes, access, iovaHi: hi32(iova), iovaLo: lo32(iova) };
        this.regions.push({ iova, bytes, access, deserted: pd === deserted, ...nic.control.regMr(attributes) });
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

  /** Whether an R_Key belongs to a region or a window, all 32 bits of it. */
  isAlive(rkey: number): boolean {
    const same = (other: { readonly rkey: number }): boolean => other.rkey >>> 0 === rkey >>> 0;
    return this.regions.some(same) || this.#windows.some(same);
  }

  /** What a peer may name: a region, or a window on a part of one. */
  target(choices: Choices): { readonly iova: bigint; readonly rkey: number; readonly lengthBytes: number } {
    if (this.#windows.length > 0 && choices.chance(25)) {
      const { rkey, region } = choices.of(this.#windows);
      return { rkey, iova: region.iova + WINDOW_OFFSET, lengthBytes: WINDOW_BYTES };
    }
    const { iova, rkey, bytes } = choices.of(this.regions);
    return { iova, rkey, lengthBytes: bytes.length };
  }

  /** Makes a window of each type on a region that allows it, to be bound on QP `qpn`. */
  addWindows(nic: Nic, pd: number, pdIndex: number, qpn: number): void {
    const region = this.regions[(pdIndex + 1) * KINDS.length - 1];
    for (const type of [MwType.TYPE_1, MwType.TYPE_2])
      this.#windows.push({ region, type, qpn, pd, rkey: nic.control.allocMw({ pd, type }).rkey });
  }

  /** Binds the windows again, those of type 2 as far as they were invalidated. */
  rebind(nic: Nic): void {
    for (const window of this.#windows) {
      const { region, rkey, pd, qpn } = window;
      const newRkey = (rkey & ~0xff) | ((rkey + 1) & 0xff);
      const addr = region.iova + WINDOW_OFFSET;
      const place = { addrHi: hi32(addr), addrLo: lo32(addr), lengthBytes: WINDOW_BYTES };
      const request = { rkey, newRkey, lkey: region.lkey | 0, ...place, access: REMOTE_READ | REMOTE_WRITE };
      if (nic.memory.bind(request, pd, qpn) === 0) window.rkey = newRkey;
    }
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
    for (const { bytes, access, deserted } of this.regions) {
      if (deserted && !bytes.every((byte) => byte === SECRET))
        throw new Error('a region was written in whose protection domain no queue pair is');
      if (deserted || (access & WRITABLE) !== 0) continue;
      if (!bytes.every((byte, i) => byte === initial(access, i)))
        throw new Error(`a region with access 0x${access.toString(16)} was written`);
    }
  }
}
