import { locateRange } from './address-range.js';
import type { CopyUnderWay, RegionMemory } from './region-memory.js';
import { ANY_QP, RemoteGrant } from './remote-grant.js';
import type { ForeignMemory } from './copying/foreign-memory.js';
import { ViewCache } from './copying/view-cache.js';
import { wordsOf } from './copying/word-copy.js';

const NO_BYTES = new Uint8Array(0);
/** As many as the packets of a message of 1 MiB. */
const VIEWS = 256;

/** Memory that the NIC may touch on behalf of whoever shows one of its keys (IBTA 10.6). */
export class MemoryRegion implements RegionMemory {
  pd: number;
  access: number;
  iovaHi: number;
  iovaLo: number;
  bytes: Uint8Array;
  foreign: ForeignMemory | undefined;
  lengthBytes: number;
  epoch = 0;
  isPlain: boolean;
  readonly copies = new Set<CopyUnderWay>();
  /** What its R_Key lets peers do; undefined once the region has ended. */
  grant: RemoteGrant | undefined;
  windows = 0;
  #words: Int32Array | undefined;
  #views: ViewCache | undefined;
  #view: DataView | undefined;
  #quadwords: BigInt64Array | undefined;

  constructor(
    readonly handle: number,
    readonly lkey: number,
    readonly rkey: number,
    attributes: RegionAttributes,
    /** Whether it is the null region: any address is in it, there is nothing to read there but zeros, and writes vanish. */
    readonly isNull = false,
  ) {
    this.pd = attributes.pd;
    this.access = attributes.access;
    this.iovaHi = attributes.iovaHi;
    this.iovaLo = attributes.iovaLo;
    this.bytes = attributes.bytes;
    this.foreign = attributes.foreign;
    this.lengthBytes = lengthOf(attributes);
    this.isPlain = !isNull && attributes.foreign === undefined;
    this.#open();
  }

  /** Whether the memory is still there: an ArrayBuffer that was transferred away has no bytes left. */
  get present(): boolean {
    // Not `length`: in code that V8 11.3 (Node 20) has compiled, that of a view may stay what it was.
    return this.bytes.byteLength === this.lengthBytes || this.foreign !== undefined;
  }

  /** Where in {@link bytes} the range of `lengthBytes` at the 64-bit address lies, or -1 when it is not inside. */
  locate(addrHi: number, addrLo: number, lengthBytes: number): number {
    if (this.isNull) return 0;
    return locateRange(addrHi, addrLo, lengthBytes, this.iovaHi, this.iovaLo, this.lengthBytes);
  }

  allows(access: number): boolean {
    return (this.access & access) === access;
  }

  part(offset: number, lengthBytes: number): Uint8Array {
    this.#views ??= new ViewCache(VIEWS);
    return this.#views.of(this.bytes, offset, lengthBytes);
  }

  get words(): Int32Array {
    this.#words ??= wordsOf(this.bytes);
    return this.#words;
  }

  get view(): DataView {
    this.#view ??= new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength);
    return this.#view;
  }

  get quadwords(): BigInt64Array {
    const { buffer } = this.bytes;
    this.#quadwords ??= new BigInt64Array(buffer, 0, Math.floor(buffer.byteLength / 8));
    return this.#quadwords;
  }

  /** Takes new attributes under the old keys; peers have to show theirs again, also in the midst of a message. */
  change(attributes: RegionAttributes): void {
    this.pd = attributes.pd;
    this.access = attributes.access;
    this.iovaHi = attributes.iovaHi;
    this.iovaLo = attributes.iovaLo;
    this.#forgetViews();
    this.closeToPeers();
    this.#endCopies();
    if (attributes.foreign !== this.foreign) this.foreign?.close?.();
    this.bytes = attributes.bytes;
    this.foreign = attributes.foreign;
    this.lengthBytes = lengthOf(attributes);
    this.isPlain = attributes.foreign === undefined;
    this.#open();
  }

  closeToPeers(): void {
    if (this.grant !== undefined) this.closeGrant(this.grant);
    this.grant = undefined;
  }

  /** Closes one of the keys to it. Copies that peers have made by that key end. */
  closeGrant(grant: RemoteGrant): void {
    grant.open = false;
    for (const copy of [...this.copies]) if (copy.permission === grant) copy.fail();
  }

  /** Ends it. Work that is in flight may hold it on, but not its memory. */
  close(): void {
    this.closeToPeers();
    this.#endCopies();
    this.foreign?.close?.();
    this.bytes = NO_BYTES;
    this.foreign = undefined;
    this.#forgetViews();
  }

  #endCopies(): void {
    this.epoch += 1;
    for (const copy of [...this.copies]) copy.fail();
  }

  #forgetViews(): void {
    this.#views = undefined;
    this.#words = undefined;
    this.#view = undefined;
    this.#quadwords = undefined;
  }

  #open(): void {
    const { pd, access, iovaHi, iovaLo, lengthBytes } = this;
    this.grant = new RemoteGrant(this, this.rkey, pd, ANY_QP, access, iovaHi, iovaLo, 0, lengthBytes);
  }
}

/** What of a region can change while its keys stay. */
export interface RegionAttributes {
  readonly pd: number;
  readonly access: number;
  /** Empty where it lies in {@link foreign} memory. */
  readonly bytes: Uint8Array;
  readonly foreign?: ForeignMemory | undefined;
  /** Address of the first byte as peers and work requests name it. */
  readonly iovaHi: number;
  readonly iovaLo: number;
}

export function lengthOf({ bytes, foreign }: Pick<RegionAttributes, 'bytes' | 'foreign'>): number {
  return foreign?.lengthBytes ?? bytes.byteLength;
}
