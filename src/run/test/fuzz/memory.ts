import { requireNativeHost, viewOf } from '../../../node/system/index.js';
import type { Choices } from '../../../../test/fuzz/random.js';

const PROT_NONE = 0;
const PROT_READ_AND_WRITE = 3;
const ANONYMOUS = 0x4022;
const MAP_FIXED = 0x10;
const RESERVED_BYTES = 2 ** 33;
const MiB = 2 ** 20;

const SECRET = 0x5a;
const SECRET_RUN = 16;
const SEALED = 0xc3;

export interface Zone {
  readonly at: number;
  readonly bytes: Uint8Array;
}

function map(address: number, lengthBytes: number, protection: number, flags: number): number {
  const native = requireNativeHost();
  const at = native.libc.mmap(address, lengthBytes, protection, ANONYMOUS | flags, -1, 0);
  if (at < 0) throw native.failure('mmap');
  return at;
}

function readOnlyByte(at: number): number {
  return (at * 13 + 7) & 0xff;
}

/**
 * The memory of a fuzzing program, in the midst of 8 GiB where nothing is: so whoever goes astray meets a fault, and not us. What is
 * private is never registered; what is read-only never for writing; what is sealed for nobody but its owner; everything may happen to the rest.
 */
export class FuzzMemory {
  readonly #reserved = map(0, RESERVED_BYTES, PROT_NONE, 0);
  /** Below all that is registered, so that no length can reach it. */
  readonly secret = this.#zone(RESERVED_BYTES / 2 - MiB, 16);
  readonly readOnly = this.#zone(RESERVED_BYTES / 2, 4);
  readonly open = this.#zone(RESERVED_BYTES / 2 + MiB, 16);
  /** Registered without any right for peers, and named by no local request: whoever touches it had more rights than were asked for. */
  readonly sealed = this.#zone(RESERVED_BYTES / 2 + 3 * MiB, 4);
  /** Where the program writes its commands and reads the answers. */
  readonly commands = this.#zone(RESERVED_BYTES / 2 + 2 * MiB, 8);

  constructor() {
    this.secret.bytes.fill(SECRET);
    this.sealed.bytes.fill(SEALED);
    this.readOnly.bytes.forEach((_, i, bytes) => (bytes[i] = readOnlyByte(i)));
  }

  nowhere(choices: Choices): number {
    return choices.of([0, 1, 8, 4095, this.#reserved, this.open.at - 8192, this.#reserved + RESERVED_BYTES - 64]);
  }

  /** An address that a request may name. */
  target(choices: Choices): number {
    const { open, readOnly, secret } = this;
    const within = ({ at, bytes }: Zone): number => at + (choices.below(bytes.length) & ~7);
    if (choices.chance(80)) return within(open);
    const { at, bytes } = open;
    return choices.of([within(secret), within(readOnly), at - 1, at + bytes.length - 1, this.nowhere(choices)]);
  }

  /** @throws Error when something was written or read that nobody may write or read */
  check(): void {
    if (this.secret.bytes.some((byte) => byte !== SECRET)) throw new Error('memory was written that nobody registered');
    if (this.readOnly.bytes.some((byte, i) => byte !== readOnlyByte(i)))
      throw new Error('memory was written that was registered for reading only');
    if (this.sealed.bytes.some((byte) => byte !== SEALED))
      throw new Error('memory was written that peers had no right to');
    const open = Buffer.from(this.open.bytes);
    if (open.includes(Buffer.alloc(SECRET_RUN, SECRET))) throw new Error('memory was read that nobody registered');
    if (open.includes(Buffer.alloc(SECRET_RUN, SEALED))) throw new Error('memory was read that peers had no right to');
  }

  release(): void {
    requireNativeHost().libc.munmap(this.#reserved, RESERVED_BYTES);
  }

  #zone(offset: number, pages: number): Zone {
    const at = map(this.#reserved + offset, pages * 4096, PROT_READ_AND_WRITE, MAP_FIXED);
    return { at, bytes: viewOf(at, pages * 4096) };
  }
}
