import { AccessFlags } from '../../../device/ibta/index.js';
import { alloc, hasOwnThread, providedContext } from '../../../api/provider/index.js';
import { type Mr, type Pd, VerbsError } from '../../../api/verbs/index.js';

/** What memory is aligned by of which an address is asked for (`RegMrOptions.iova`). */
const PAGE = 4096;

/** Memory of the program's that is registered, for one user at a time. */
export interface Registration extends Disposable {
  readonly mr: Mr;
  /** Where what was asked for begins, for work requests. */
  readonly addr: number;
  readonly lkey: number;

  /**
   * The memory is the program's alone from now on. For whoever gives up requests that the adapter works on: they go on, in other memory
   * that holds the same, and what they write is lost. Where there is no other memory, they fail.
   *
   * @param offset where what they use begins, from {@link addr} on
   * @param byteLength of what they use
   */
  redirect(offset: number, byteLength: number): void;

  /** No request uses it any more. To be called once. */
  release(): void;
}

/**
 * Registers memory of the program's. What only this side reads and writes is registered by whole buffers, and kept for the next time,
 * as the least recently used are given up beyond a limit. What peers may use is exactly what was asked for, and ends with its user: a Buffer of
 * Node's shares its memory with others.
 */
export class RegistrationCache {
  readonly #idleOf = new WeakMap<ArrayBufferLike, Region[]>();
  /** The same, least recently used first. */
  readonly #idle = new Set<Region>();
  #idleBytes = 0;
  #used = 0;
  readonly #hasThread: boolean;

  constructor(
    private readonly pd: Pd,
    /** Bytes of memory that nobody uses and that is registered nevertheless. */
    readonly limit: number,
  ) {
    this.#hasThread = providedContext(pd.context, 'engine')[hasOwnThread];
  }

  /** Bytes that are registered though nobody uses them. */
  get idleBytes(): number {
    return this.#idleBytes;
  }

  get used(): number {
    return this.#used;
  }

  /**
   * Memory for requests of this side. Its region is this user's alone until the release.
   *
   * @returns undefined where it has to be copied: empty, detached or resizable memory; with a NIC in a thread of its own all that is not
   *   shared, since Node before 24 cannot keep it in place there, and Node 24 can only for good, so that the program could
   *   never transfer it again; and when the device has no key left
   * @param isKept whether it may stay registered for the next time, and so in memory
   * @throws VerbsError EINVAL when the device was closed
   */
  local(view: Uint8Array, isKept = true): Registration | undefined {
    const { buffer, byteOffset, byteLength } = view;
    if (byteLength === 0 || canShrink(buffer) || (this.#hasThread && !isShared(buffer))) return undefined;
    const region = this.#takeIdle(buffer, byteOffset + byteLength) ?? this.#register(buffer, isKept);
    if (region === undefined) return undefined;
    this.#used += 1;
    region.use(byteOffset);
    return region;
  }

  /**
   * Memory that peers may use as `access` says.
   *
   * @param access bits of `AccessFlags`
   * @throws VerbsError as `Pd.regMr`
   */
  remote(view: Uint8Array, access: number): Registration {
    const region = new Region(this, this.pd.regMr(view, access), undefined);
    this.#used += 1;
    region.use(0);
    return region;
  }

  clear(): void {
    this.#shrink(0);
  }

  released(region: Region): void {
    this.#used -= 1;
    const { buffer } = region;
    if (buffer === undefined || region.bytes > this.limit) {
      region.mr[Symbol.dispose]();
      return;
    }
    this.#idle.add(region);
    this.#idleBytes += region.bytes;
    const others = this.#idleOf.get(buffer);
    if (others === undefined) this.#idleOf.set(buffer, [region]);
    else others.push(region);
    if (this.#idleBytes > this.limit) this.#shrink(this.limit);
  }

  #takeIdle(buffer: ArrayBufferLike, end: number): Region | undefined {
    const regions = this.#idleOf.get(buffer);
    const region = regions?.pop();
    if (region === undefined) return undefined;
    this.#forget(region);
    // Shared memory may have grown since.
    if (region.bytes >= end) return region;
    region.mr[Symbol.dispose]();
    return undefined;
  }

  #register(buffer: ArrayBufferLike, isKept: boolean): Region | undefined {
    try {
      const mr = this.pd.regMr(new Uint8Array(buffer), AccessFlags.LOCAL_WRITE);
      return new Region(this, mr, isKept ? buffer : undefined);
    } catch (error) {
      if (!(error instanceof VerbsError)) throw error;
      if (error.errno === 'ENOMEM' && this.#idle.size > 0) {
        this.clear();
        return this.#register(buffer, isKept);
      }
      if (error.errno !== 'EOPNOTSUPP' && error.errno !== 'ENOMEM') throw error;
      return undefined;
    }
  }

  #shrink(limit: number): void {
    for (const region of this.#idle) {
      if (this.#idleBytes <= limit) return;
      const { buffer } = region;
      const regions = buffer && this.#idleOf.get(buffer);
      regions?.splice(regions.indexOf(region), 1);
      this.#forget(region);
      region.mr[Symbol.dispose]();
    }
  }

  #forget(region: Region): void {
    this.#idle.delete(region);
    this.#idleBytes -= region.bytes;
  }
}

/** Whether memory could vanish under an adapter, which registers no such. */
function canShrink(buffer: ArrayBufferLike): boolean {
  // Asked of the language, as the adapter does: a property of the buffer's own could say anything.
  return buffer instanceof ArrayBuffer && Reflect.get(ArrayBuffer.prototype, 'resizable', buffer) === true;
}

/** Whether nobody can take memory away. One of another realm's is not known to be. */
function isShared(buffer: ArrayBufferLike): boolean {
  return typeof SharedArrayBuffer !== 'undefined' && buffer instanceof SharedArrayBuffer;
}

/** A region, of one user after the other: an object for life, so that to use it again allocates nothing. */
class Region implements Registration {
  readonly lkey: number;
  /** Bytes of it. */
  readonly bytes: number;
  addr = 0;
  readonly #base: number;
  #isUsed = false;
  #leadsElsewhere = false;

  constructor(
    private readonly cache: RegistrationCache,
    readonly mr: Mr,
    /** The memory that it is all of; undefined for a region that ends with its user. */
    private readonly whole: ArrayBufferLike | undefined,
  ) {
    this.lkey = mr.lkey;
    this.bytes = mr.length;
    this.#base = Number(mr.addr);
  }

  get buffer(): ArrayBufferLike | undefined {
    return this.#leadsElsewhere ? undefined : this.whole;
  }

  use(offset: number): void {
    this.#isUsed = true;
    this.addr = this.#base + offset;
  }

  redirect(offset: number, byteLength: number): void {
    if (this.#leadsElsewhere || !this.#isUsed) return;
    this.#leadsElsewhere = true;
    const { mr } = this;
    const begin = this.addr - this.#base + offset;
    const iova = mr.iova + BigInt(begin);
    // The address stays what requests call it, and has to lie as far from a page's beginning as the memory does.
    const skip = Number(iova % BigInt(PAGE));
    try {
      const elsewhere = alloc(skip + byteLength, { align: PAGE });
      // What the program has taken away meanwhile has no bytes.
      if (mr.bytes.byteLength > 0) elsewhere.set(mr.bytes.subarray(begin, begin + byteLength), skip);
      mr.rereg({ memory: elsewhere, iova: iova - BigInt(skip) });
    } catch (error) {
      if (!(error instanceof VerbsError)) throw error;
      // A device that was closed touches nothing, and this changes nothing.
      mr[Symbol.dispose]();
    }
  }

  release(): void {
    if (!this.#isUsed) throw new Error('verbena: internal error: a registration is released twice');
    this.#isUsed = false;
    this.cache.released(this);
  }

  [Symbol.dispose](): void {
    if (this.#isUsed) this.release();
  }
}
