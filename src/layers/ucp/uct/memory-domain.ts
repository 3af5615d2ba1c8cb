import { AccessFlags } from '../../../device/ibta/index.js';
import type { Engine, Registration } from '../../engine/index.js';
import { packRkey, RkeyAccess } from '../wire/index.js';

/** What a right of a key is to the adapter. */
const FLAGS: readonly (readonly [right: number, flag: number])[] = [
  [RkeyAccess.READ, AccessFlags.REMOTE_READ],
  [RkeyAccess.WRITE, AccessFlags.REMOTE_WRITE],
  [RkeyAccess.ATOMIC, AccessFlags.REMOTE_ATOMIC],
];

const ALL = RkeyAccess.READ | RkeyAccess.WRITE | RkeyAccess.ATOMIC;

/** Memory of this end that peers may use. All transports know it by the same key. */
export class Memory implements Disposable {
  readonly address: bigint;
  readonly lkey: number;
  readonly rkey: number;

  constructor(
    private readonly domain: MemoryDomain,
    private readonly registration: Registration,
    readonly bytes: Uint8Array,
    /** Bits of `RkeyAccess`. */
    readonly access: number,
  ) {
    const { mr } = registration;
    this.address = mr.iova;
    this.lkey = mr.lkey;
    this.rkey = mr.rkey;
  }

  /** The key, to be sent to whoever may use it. */
  pack(): Uint8Array {
    const { access, rkey, address, bytes } = this;
    return packRkey({ access, rkey, address, length: bytes.length });
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

  /** The bytes that a peer asks for; undefined where it has no right to all of them. @param right a bit of `RkeyAccess` */
  find(rkey: number, address: bigint, length: number, right: number): Uint8Array | undefined {
    const memory = this.#byRkey.get(rkey);
    if (memory === undefined || (memory.access & right) === 0) return undefined;
    const offset = address - memory.address;
    if (offset < 0n || offset + BigInt(length) > BigInt(memory.bytes.length)) return undefined;
    return memory.bytes.subarray(Number(offset), Number(offset) + length);
  }

  forget(memory: Memory): void {
    this.#byRkey.delete(memory.rkey);
  }
}
