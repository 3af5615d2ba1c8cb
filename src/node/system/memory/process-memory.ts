/** The memory of another process. */
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { type AtomicOperation, atomicResult, type ForeignMemory } from '../../../device/nic/index.js';
import { type LibC, type NativeHost, requireNativeHost } from '../native.js';
import { readProcess } from '../processes/process-bytes.js';
import { addressOf, NativeBlock } from './memory.js';

/** `struct iovec`: an address and a length, of eight bytes each. */
const IOVEC_BYTES = 16;
/** Where the second of two stands. */
const REMOTE = IOVEC_BYTES;

/** Each program gets so many bytes by chance from the kernel, at an address that is one of the numbers it gets (getauxval(3)). */
const AT_RANDOM = 25;
const RANDOM_BYTES = 16;

function addressOfRandomBytes(pid: number): number | undefined {
  try {
    const numbers = new BigUint64Array(Uint8Array.from(readFileSync(`/proc/${pid}/auxv`)).buffer);
    const at = numbers.findIndex((key, i) => i % 2 === 0 && key === BigInt(AT_RANDOM));
    return at < 0 ? undefined : Number(numbers[at + 1]);
  } catch {
    return undefined;
  }
}

/**
 * All memory of a process: of the program that runs in it, until it runs another (execve(2)). Whoever learns that it is about to do so
 * calls {@link pin} while it waits.
 */
export class AddressSpace {
  /** Of the memory itself, which stays that of the program it was opened for; -1 as long as the process's number is good enough. */
  #fd = -1;
  #lost = false;

  /** @param pid the process, as numbered in our PID namespace */
  constructor(readonly pid: number) {}

  /** What the process has from now on is not meant, whatever it has. Every copy takes longer from then on. */
  pin(): void {
    if (this.isPinned) return;
    try {
      this.#fd = openSync(`/proc/${this.pid}/mem`, constants.O_RDWR);
    } catch {
      // Without a descriptor no byte is better than another's.
      this.#lost = true;
    }
  }

  get isPinned(): boolean {
    return this.#fd >= 0 || this.#lost;
  }

  /** Whether what was pinned is what the process has now: it could not run another program, or has not yet. */
  get isOfProcess(): boolean {
    const at = addressOfRandomBytes(this.pid);
    if (this.#fd < 0 || at === undefined) return false;
    const [pinned, present] = [new NativeBlock(RANDOM_BYTES), new NativeBlock(RANDOM_BYTES)];
    const { libc } = requireNativeHost();
    if (libc.pread(this.#fd, pinned.address, RANDOM_BYTES, at) !== RANDOM_BYTES) return false;
    if (readProcess(this.pid, at, present.address, RANDOM_BYTES) !== RANDOM_BYTES) return false;
    return Buffer.compare(pinned.bytes, present.bytes) === 0;
  }

  /** Closes what was pinned and is nobody's any more. @returns whether it is */
  closeIfEnded(): boolean {
    if (this.#fd < 0) return this.#lost;
    // Where nothing is, it fails as long as there is anything elsewhere.
    const ended = requireNativeHost().libc.pread(this.#fd, new NativeBlock(8).address, 1, 0) === 0;
    if (ended) this.close();
    return ended;
  }

  /** @internal As process_vm_readv and process_vm_writev, of one piece each. */
  copy(libc: LibC, call: 'processVmReadv' | 'processVmWritev', vectors: NativeBlock): number {
    const { address } = vectors;
    if (this.#fd < 0) return this.#lost ? 0 : libc[call](this.pid, address, 1, address + REMOTE, 1, 0);
    const [local, lengthBytes, remote] = [0, 8, REMOTE].map((at) => vectors.getPointer(at));
    return libc[call === 'processVmReadv' ? 'pread' : 'pwrite'](this.#fd, local, lengthBytes, remote);
  }

  /** Idempotent. Nothing can be copied after that. */
  close(): void {
    if (this.#fd >= 0) closeSync(this.#fd);
    this.#fd = -1;
    this.#lost = true;
  }
}

/**
 * A range of another process's memory, by process_vm_readv(2) and process_vm_writev(2), which copy at once and need no help of
 * that process. What it has unmapped or protected is a fault at that very byte, and all of it when the process has ended, or
 * may not be looked at (ptrace(2), "access mode checking").
 * Numbers of processes come again: whoever registers its memory deregisters it when the process ends, before it is waited for.
 *
 * The copy is atomic with nothing that the process itself does. Atomics of one NIC exclude each other, for its calls come
 * one after the other: IBV_ATOMIC_HCA.
 */
export class ProcessMemory implements ForeignMemory {
  readonly #native: NativeHost = requireNativeHost();
  /** The two iovecs of a call: ours, and that of the process. */
  readonly #vectors = new NativeBlock(2 * IOVEC_BYTES);
  readonly #word = new BigUint64Array(1);
  readonly #wordBytes = new Uint8Array(this.#word.buffer);

  /**
   * @param address of the first byte, in that process
   * @throws Error when there are no native calls
   */
  constructor(
    private readonly space: AddressSpace,
    readonly address: number,
    readonly lengthBytes: number,
  ) {}

  read(offset: number, target: Uint8Array, targetOffset: number, lengthBytes: number): number {
    return this.#copy('processVmReadv', offset, target, targetOffset, lengthBytes);
  }

  write(offset: number, source: Uint8Array, sourceOffset: number, lengthBytes: number): number {
    return this.#copy('processVmWritev', offset, source, sourceOffset, lengthBytes);
  }

  atomic(offset: number, operation: AtomicOperation, found: Uint8Array): number {
    const read = this.read(offset, this.#wordBytes, 0, 8);
    if (read < 8) return read;
    found.set(this.#wordBytes);
    const [before] = this.#word;
    const after = atomicResult(operation, before);
    if (after === before) return 8;
    this.#word[0] = after;
    return this.write(offset, this.#wordBytes, 0, 8);
  }

  cancel(): void {
    // No copy outlasts its call.
  }

  #copy(
    call: 'processVmReadv' | 'processVmWritev',
    offset: number,
    bytes: Uint8Array,
    at: number,
    lengthBytes: number,
  ): number {
    const vectors = this.#vectors;
    vectors.putPointer(0, baseOf(bytes) + at);
    vectors.putPointer(8, lengthBytes);
    vectors.putPointer(REMOTE, this.address + offset);
    vectors.putPointer(REMOTE + 8, lengthBytes);
    return Math.max(0, this.space.copy(this.#native.libc, call, vectors));
  }
}

/** Addresses of buffers that copies go through again and again. */
const bases = new WeakMap<ArrayBufferLike, number>();

function baseOf(bytes: Uint8Array): number {
  let base = bases.get(bytes.buffer);
  if (base === undefined) {
    base = addressOf(bytes) - bytes.byteOffset;
    bases.set(bytes.buffer, base);
  }
  return base + bytes.byteOffset;
}
