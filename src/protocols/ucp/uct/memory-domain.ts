import { AccessFlags } from '../../../device/ibta/index.js';
import { VerbsError } from '../../../api/verbs/index.js';
import type { Engine, Registration } from '../../core/index.js';
import { type PackedRkey, packRkey, RkeyAccess } from '../wire/index.js';

const FLAGS: readonly (readonly [right: number, flag: number])[] = [
  [RkeyAccess.READ, AccessFlags.REMOTE_READ],
  [RkeyAccess.WRITE, AccessFlags.REMOTE_WRITE],
  [RkeyAccess.ATOMIC, AccessFlags.REMOTE_ATOMIC],
];

const ALL = RkeyAccess.READ | RkeyAccess.WRITE | RkeyAccess.ATOMIC;

/** Memory of this end that transports use. All of them know it by the same key. */
export class Memory implements Disposable {
  readonly address: bigint;
  readonly lkey: number;
  readonly rkey: number;
  #bytes: Uint8Array;
  readonly #length: number;

  constructor(
    private readonly domain: MemoryDomain,
    private readonly registration: Registration,
    bytes: Uint8Array,
    /** Bits of `RkeyAccess`: what peers may do. */
    readonly access: number,
  ) {
    const { mr, addr, lkey } = registration;
    this.address = BigInt(addr);
    this.lkey = lkey;
    this.rkey = mr.rkey;
    this.#bytes = bytes;
    this.#length = bytes.length;
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** The key, to be sent to whoever may use it. */
  pack(): Uint8Array {
    return packRkey(this.key);
  }

  /** The same, for a message. */
  get key(): PackedRkey {
    const { access, rkey, address, bytes } = this;
    return { access, rkey, address, length: bytes.length };
  }

  /**
   * The program has its memory back from now on, though requests are under way that use it, of this end's or of peers': they go on in other memory, which holds the
   * same, and what they write is lost.
   */
  redirect(): void {
    const before = this.#bytes;
    const length = this.#length;
    this.registration.redirect(0, length);
    const { bytes } = this.registration.mr;
    if (bytes.buffer !== before.buffer) this.#bytes = bytes.subarray(bytes.length - length);
    // A device that is gone has nothing redirected. What the program has taken away has no bytes.
    else this.#bytes = before.byteLength === length ? before.slice() : new Uint8Array(length);
  }

  /** Peers may use it no more. To be called once, when nothing of this end's uses it either. */
  deregister(): void {
    this.domain.forget(this);
    this.registration.release();
  }

  /** {@link deregister}. */
  [Symbol.dispose](): void {
    this.deregister();
  }
}

/** Memory of a device that is registered, for all transports that go by it. */
export class MemoryDomain {
  readonly #byRkey = new Map<number, Memory>();

  constructor(readonly engine: Engine) {}

  /**
   * @param bytes at least 1
   * @param access bits of `RkeyAccess`: what peers may do
   * @throws VerbsError as `Pd.regMr`
   */
  register(bytes: Uint8Array, access: number = ALL): Memory {
    const flags = FLAGS.reduce((sum, [right, flag]) => sum | ((access & right) === 0 ? 0 : flag), 0);
    const registration = this.engine.registrations.remote(bytes, AccessFlags.LOCAL_WRITE | flags);
    const memory = new Memory(this, registration, bytes, access);
    this.#byRkey.set(memory.rkey, memory);
    return memory;
  }

  /** The same where that is possible: some memory has to be copied. */
  tryRegister(bytes: Uint8Array, access: number): Memory | undefined {
    try {
      return this.register(bytes, access);
    } catch (error) {
      if (!(error instanceof VerbsError)) throw error;
      return undefined;
    }
  }

  /** Memory that only this end uses, and that may be known to the adapter already; undefined where it has to be copied. */
  borrow(bytes: Uint8Array): Memory | undefined {
    try {
      const registration = this.engine.registrations.local(bytes);
      return registration && new Memory(this, registration, bytes, 0);
    } catch (error) {
      if (!(error instanceof VerbsError)) throw error;
      return undefined;
    }
  }

  /** The bytes that a peer asks for; undefined where it has no right to all of them. @param right a bit of `RkeyAccess` */
  find(rkey: number, address: bigint, length: number, right: number): Uint8Array | undefined {
    const memory = this.#byRkey.get(rkey);
    if (memory === undefined) return undefined;
    const offset = address - memory.address;
    if (offset < 0n || offset > BigInt(memory.bytes.length)) return undefined;
    return this.at(rkey, Number(offset), length, right);
  }

  /** The same, by the place within the memory. @param offset 0 or more. @param length 0 or more */
  at(rkey: number, offset: number, length: number, right: number): Uint8Array | undefined {
    const memory = this.#byRkey.get(rkey);
    if (memory === undefined || (memory.access & right) === 0) return undefined;
    return offset + length <= memory.bytes.byteLength ? memory.bytes.subarray(offset, offset + length) : undefined;
  }

  /** Where the memory of a key begins; undefined when there is no such key. */
  addressOf(rkey: number): bigint | undefined {
    return this.#byRkey.get(rkey)?.address;
  }

  forget(memory: Memory): void {
    if (this.#byRkey.get(memory.rkey) === memory) this.#byRkey.delete(memory.rkey);
  }
}
