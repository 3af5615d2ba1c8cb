import { constant, only, reserved, struct, u16, u32, u53, u64, u8 } from '../../../device/wire/index.js';

// Where an operation by message is to find its memory. UCX's messages say an address of the target's and nothing else, so that whoever guesses one has the
// memory. The address is the target's to choose; here it names the key and the place within its memory, and so is as hard to guess as the key is.

const OFFSET_BITS = 32n;

/** Places beyond cannot be named. */
export const MAX_RMA_OFFSET = 2 ** 32 - 1;

export interface RmaPlace {
  readonly rkey: number;
  /** From the beginning of the memory, 0 to {@link MAX_RMA_OFFSET}. */
  readonly offset: number;
}

export function rmaAddress({ rkey, offset }: RmaPlace): bigint {
  return (BigInt(rkey >>> 0) << OFFSET_BITS) | BigInt(offset);
}

export function rmaPlace(address: bigint): RmaPlace {
  return {
    rkey: Number(BigInt.asUintN(32, address >> OFFSET_BITS)),
    offset: Number(BigInt.asUintN(32, address)),
  };
}

// A key to memory, in a form that its owner can send to others by whatever way it likes. The form is ours: UCX's names memory domains, of which there is one here.

const VERSION = 1;
const LAST_ADDRESS = 2n ** 64n;

/** What the holder of a key may do. */
export const RkeyAccess = {
  READ: 0x1,
  WRITE: 0x2,
  ATOMIC: 0x4,
  /** Atomics, by messages to the owner. Nobody has both: the one would not see that the other is at a word. */
  ATOMIC_MESSAGES: 0x8,
} as const;

const BOTH_ATOMICS = RkeyAccess.ATOMIC | RkeyAccess.ATOMIC_MESSAGES;
const KNOWN = RkeyAccess.READ | RkeyAccess.WRITE | BOTH_ATOMICS;

function isAccess(access: number): boolean {
  return access !== 0 && (access & ~KNOWN) === 0 && (access & BOTH_ATOMICS) !== BOTH_ATOMICS;
}

const RKEY = struct({
  version: constant(u8, VERSION, (version) => `version is ${version}, and this end knows version ${VERSION}`),
  access: only(u8, isAccess, 'which names no rights, or unknown ones, or two kinds of atomics'),
  reserved: reserved(u16),
  rkey: u32,
  address: u64,
  length: u53,
});

/** Bytes of a key. */
export const PACKED_RKEY_BYTES = RKEY.bytes;

/** Memory of another's, and the right to use it. */
export interface PackedRkey {
  /** Bits of {@link RkeyAccess}. */
  readonly access: number;
  readonly rkey: number;
  /** Where it begins, 64 bits. */
  readonly address: bigint;
  /** Bytes of it, at least 1. */
  readonly length: number;
}

/** The bytes of a key. */
export const packRkey: (key: PackedRkey) => Uint8Array = RKEY.encode;

/** The key that bytes are, or a sentence that says what is wrong with them. */
export function unpackRkey(bytes: Uint8Array): PackedRkey | string {
  if (bytes.length !== RKEY.bytes) return `a key has ${RKEY.bytes} bytes, and these are ${bytes.length}`;
  const key = RKEY.decode(bytes);
  if (typeof key === 'string') return key;
  if (key.length === 0) return 'length is 0';
  return key.address + BigInt(key.length) > LAST_ADDRESS ? 'the memory ends beyond the last address' : key;
}
