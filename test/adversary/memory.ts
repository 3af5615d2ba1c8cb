import { AccessFlags, alloc, type Mr, type Pd } from '../../src/entry/index.js';
import type { Choices } from '../fuzz/random.js';
import { FORGED } from './forge.js';

const { LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC, FLUSH_GLOBAL, MW_BIND } = AccessFlags;
export const EVERY_ACCESS = LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC | FLUSH_GLOBAL | MW_BIND;

/** Bytes that the adversary may know. Those that it may not have their top bit set. */
const PUBLIC = 0x11;
const SECRET_BIT = 0x80;
const PIECE_BYTES = 1024;

export interface MemoryPiece {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** Everything that the victim has registered, in one piece, and which bytes of it the adversary may change. */
export class VictimMemory {
  readonly #arena = alloc(16 * PIECE_BYTES);
  readonly #before = new Uint8Array(this.#arena.length);
  readonly #open: Uint8Array[] = [];
  #used = 0;
  #kept = false;

  constructor(private readonly choices: Choices) {}

  /** Takes a piece of 1024 bytes, none beside another. */
  piece(): MemoryPiece {
    const offset = this.#used + 64;
    this.#used += PIECE_BYTES + 128;
    const bytes = this.#arena.subarray(offset, offset + PIECE_BYTES);
    return { offset, bytes };
  }

  /** Registers a piece of its own, of bytes that nobody else knows. */
  region(pd: Pd, access: number): Mr {
    return pd.regMr(this.piece().bytes, access);
  }

  /** Lets the adversary read these bytes, which are public from now on. */
  publish(bytes: Uint8Array): void {
    bytes.fill(PUBLIC);
  }

  /** Lets it read and change them: they are put right before each look. */
  open(bytes: Uint8Array): void {
    this.publish(bytes);
    this.#open.push(bytes);
  }

  /** Fills what is not public, and remembers all. */
  seal(): void {
    const arena = this.#arena;
    for (let i = 0; i < arena.length; i += 1)
      if (arena[i] !== PUBLIC) arena[i] = SECRET_BIT | (this.choices.u32() & 0x7f);
    this.remember();
  }

  remember(): void {
    this.#before.set(this.#arena);
  }

  /** Puts everything back as it was. */
  restore(): void {
    this.#arena.set(this.#before);
  }

  /** What is open stays as it is until the next look: nobody may change it now. */
  keep(): void {
    for (const bytes of this.#open) bytes.fill(PUBLIC);
    this.#kept = true;
  }

  /** Whether a byte differs that only its owner may change. @param strict so may nobody else change the open ones */
  changed(strict: boolean): boolean {
    if (!strict && !this.#kept) for (const bytes of this.#open) bytes.fill(PUBLIC);
    this.#kept = false;
    return Buffer.compare(this.#before, this.#arena) !== 0;
  }

  /** Whether bytes that leave the victim hold something that they may not. @param strict nothing may leave */
  static discloses(payload: Uint8Array, strict: boolean): boolean {
    if (strict) return payload.length > 0;
    return payload.some((byte) => byte !== PUBLIC && byte !== FORGED);
  }
}
