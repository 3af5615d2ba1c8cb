/** Files that several processes have in their memory, and locks that tell whether the owner of a file is alive. */
import { requireNativeHost } from '../native.js';
import { NativeBlock, viewOf } from './memory.js';

const PROT_READ_AND_WRITE = 3;
const MAP_SHARED = 1;
const LOCK_SH = 1;
const LOCK_EX = 2;
const LOCK_NB = 4;
const LOCK_UN = 8;
const FALLOC_FL_KEEP_SIZE = 1;
const FALLOC_FL_PUNCH_HOLE = 2;

const NO_BYTES = new Uint8Array(0);
const NO_WORDS = new Int32Array(0);

/** A mapped part of a file. All processes that have mapped it see each other's writes. */
export class SharedMapping {
  /** Empty after {@link close}; nobody may have kept it by then, since the addresses behind it are gone. */
  bytes: Uint8Array;
  /** The same memory. */
  words: Int32Array;
  #address: number;

  /**
   * @param offsetBytes a multiple of the page size
   * @throws SystemCallError
   */
  constructor(fd: number, offsetBytes: number, lengthBytes: number) {
    const native = requireNativeHost();
    this.#address = native.libc.mmap(0, lengthBytes, PROT_READ_AND_WRITE, MAP_SHARED, fd, offsetBytes);
    if (this.#address < 0) throw native.failure('mmap');
    this.bytes = viewOf(this.#address, lengthBytes);
    this.words = new Int32Array(this.bytes.buffer);
  }

  /** Idempotent. */
  close(): void {
    const lengthBytes = this.bytes.length;
    if (lengthBytes === 0) return;
    this.bytes = NO_BYTES;
    this.words = NO_WORDS;
    requireNativeHost().libc.munmap(this.#address, lengthBytes);
    this.#address = 0;
  }
}

/** Locks a file for as long as this descriptor is open: the kernel lets go of it however its owner ends. */
export function lockFile(fd: number): boolean {
  return requireNativeHost().libc.flock(fd, LOCK_EX | LOCK_NB) === 0;
}

/** Whether somebody holds a file by another descriptor than `fd`. */
export function isLocked(fd: number): boolean {
  const { libc } = requireNativeHost();
  if (libc.flock(fd, LOCK_SH | LOCK_NB) !== 0) return true;
  libc.flock(fd, LOCK_UN);
  return false;
}

/** `struct flock` of a 64-bit Linux: the kind of lock, and from the beginning of the file; then the first byte, and how many. */
const FLOCK_BYTES = 32;
const FLOCK_START = 8;
const FLOCK_LENGTH = 16;
const F_OFD_SETLK = 37;
const F_WRLCK = 1;
const F_UNLCK = 2;

let argument: NativeBlock | undefined;

/** Locks or unlocks one byte of a file for this opening of it alone. */
function changeByteLock(fd: number, byte: number, kind: number): boolean {
  argument ??= new NativeBlock(FLOCK_BYTES);
  argument.words[0] = kind;
  argument.putPointer(FLOCK_START, byte);
  argument.putPointer(FLOCK_LENGTH, 1);
  return requireNativeHost().libc.fcntl(fd, F_OFD_SETLK, argument.address) === 0;
}

/**
 * Locks one byte of a file, which says nothing of {@link lockFile}. The kernel lets go of it with the last descriptor of this
 * opening, however its owner ends.
 *
 * @returns false when somebody has it by another opening
 */
export function lockByte(fd: number, byte: number): boolean {
  return changeByteLock(fd, byte, F_WRLCK);
}

export function unlockByte(fd: number, byte: number): void {
  changeByteLock(fd, byte, F_UNLCK);
}

/**
 * Sets memory aside for a stretch of a file in memory. What is touched without that, when there is none left, ends the
 * process (SIGBUS).
 *
 * @returns false when there is not enough
 */
export function allocateFile(fd: number, offsetBytes: number, lengthBytes: number): boolean {
  return requireNativeHost().libc.fallocate(fd, 0, offsetBytes, lengthBytes) === 0;
}

export function releaseFile(fd: number, offsetBytes: number, lengthBytes: number): void {
  requireNativeHost().libc.fallocate(fd, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, offsetBytes, lengthBytes);
}
