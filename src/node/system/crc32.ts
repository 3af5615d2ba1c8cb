/** CRC-32 as quick as the machine allows. */
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import * as zlib from 'node:zlib';
import { nativeHost } from './native.js';

/** The running CRC-32 (zlib's convention, as int32) of `length` bytes from `offset`, continued from `crc`. */
export type Crc32Function = (bytes: Uint8Array, offset: number, length: number, crc: number) => number;

/** Takes a whole view; takes a signed number, and returns one that may be unsigned. */
type ViewCrc32 = (bytes: Uint8Array, crc: number) => number;

/** Takes an address; signed numbers throughout. */
type AddressCrc32 = (crc: number, address: number, length: number) => number;

/** Where native code for CRC-32 comes from. */
export const CRC32_SOURCES = ['isa-l', 'libdeflate', '@node-rs/crc32', 'zlib'] as const;
export type Crc32Source = (typeof CRC32_SOURCES)[number];

/** A way to compute a CRC-32. */
export interface Crc32Implementation<Source extends string = Crc32Source | 'javascript'> {
  /** `javascript` where the machine has no native code for it. */
  readonly source: Source;
  readonly crc32: Crc32Function;
}

/**
 * From this length on a call into native code is quicker than the loop. A call takes 0.1 us with a view, 0.04 us with an address, and
 * the loop 1 ns a byte. By address it also keeps clear of typed arrays of up to 64 bytes, which V8 may hold inside its heap and move.
 */
const VIEW_FROM_BYTES = 128;
const ADDRESS_FROM_BYTES = 65;

/** A power of two. Packets lie at the same places of the same arenas again and again, so most calls find their view. */
const VIEWS = 1024;

/** Passes parts of a view to native code that takes whole views, without making a new view for each call. */
function withViews(native: ViewCrc32, loop: Crc32Function): Crc32Function {
  const none = new Uint8Array(0);
  const owners = new Array<Uint8Array>(VIEWS).fill(none);
  const views = new Array<Uint8Array>(VIEWS).fill(none);
  const offsets = new Int32Array(VIEWS);
  return (bytes, offset, length, crc) => {
    if (length < VIEW_FROM_BYTES || offset + length > bytes.length) return loop(bytes, offset, length, crc);
    const slot = Math.imul(offset ^ (length << 16), 0x9e3779b1) >>> 22;
    let view = views[slot];
    if (owners[slot] !== bytes || offsets[slot] !== offset || view.length !== length) {
      view = bytes.subarray(offset, offset + length);
      views[slot] = view;
      owners[slot] = bytes;
      offsets[slot] = offset;
    }
    return native(view, crc) | 0;
  };
}

/**
 * Passes addresses to native code. A view keeps its address while it has bytes: one whose buffer was detached has none, and then the
 * loop answers, as it does for a range outside of the view.
 */
function withAddresses(
  native: AddressCrc32,
  addressOf: (bytes: Uint8Array) => number,
  loop: Crc32Function,
): Crc32Function {
  // Two, since the headers of a packet and its payload mostly lie in two arenas.
  let first: Uint8Array = new Uint8Array(0);
  let second = first;
  let firstAddress = 0;
  let secondAddress = 0;
  return (bytes, offset, length, crc) => {
    if (length < ADDRESS_FROM_BYTES || offset < 0 || offset + length > bytes.length) {
      return loop(bytes, offset, length, crc);
    }
    if (bytes !== first) {
      const address = bytes === second ? secondAddress : addressOf(bytes);
      second = first;
      secondAddress = firstAddress;
      first = bytes;
      firstAddress = address;
    }
    return native(crc, firstAddress + offset, length);
  };
}

function fromLibrary(file: string, symbol: string, loop: Crc32Function): Crc32Function | undefined {
  const native = nativeHost();
  const checksum = native?.checksum(file, symbol);
  return native === undefined || checksum === undefined
    ? undefined
    : withAddresses(checksum, (bytes) => native.addressOf(bytes), loop);
}

function nodeRsCrc32(): ViewCrc32 | undefined {
  try {
    // The package's declarations say the same of it; a package that cannot load on this machine throws. A negative number
    // is its unsigned twin to it, and needs no memory, as that twin would.
    const { crc32 } = createRequire(import.meta.url)('@node-rs/crc32') as { crc32: ViewCrc32 };
    return crc32;
  } catch {
    return undefined;
  }
}

function zlibCrc32(): ViewCrc32 | undefined {
  // Node has it since 20.15 and 22.2; its declarations are those of a Node that has it.
  const { crc32 } = zlib as Partial<typeof zlib>;
  return crc32 === undefined ? undefined : (bytes, crc) => crc32(bytes, crc >>> 0);
}

function viewed(native: ViewCrc32 | undefined, loop: Crc32Function): Crc32Function | undefined {
  return native === undefined ? undefined : withViews(native, loop);
}

/** Debian's packages: libisal2, libdeflate0. */
const OPEN: Readonly<Record<Crc32Source, (loop: Crc32Function) => Crc32Function | undefined>> = {
  'isa-l': (loop) => fromLibrary('libisal.so.2', 'crc32_gzip_refl', loop),
  libdeflate: (loop) => fromLibrary('libdeflate.so.0', 'libdeflate_crc32', loop),
  '@node-rs/crc32': (loop) => viewed(nodeRsCrc32(), loop),
  zlib: (loop) => viewed(zlibCrc32(), loop),
};

const SAMPLE_BYTES = 4200;

/** Bytes without a pattern that a checksum could miss. */
function sample(): Uint8Array {
  const bytes = new Uint8Array(SAMPLE_BYTES);
  let state = 1;
  for (let i = 0; i < SAMPLE_BYTES; i += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}

/** Pieces of the sample: around the widths of vector registers and at the size of packets, not aligned, running values of either sign. */
const PIECES = [65, 127, 128, 129, 255, 256, 257, 511, 1040, 4128].map((length, i) => ({
  length,
  offset: (i * 7) & 63,
  crc: Math.imul(i, 0x9e3779b1),
}));

export function agrees(candidate: Crc32Function, loop: Crc32Function): boolean {
  const bytes = sample();
  return PIECES.every(
    ({ length, offset, crc }) => candidate(bytes, offset, length, crc) === loop(bytes, offset, length, crc),
  );
}

/** Those of the sources that this machine has and that agree with the loop. */
export function nativeCrc32s(
  loop: Crc32Function,
  sources: readonly Crc32Source[] = CRC32_SOURCES,
): readonly Crc32Implementation<Crc32Source>[] {
  return sources.flatMap((source) => {
    const crc32 = OPEN[source](loop);
    return crc32 !== undefined && agrees(crc32, loop) ? [{ source, crc32 }] : [];
  });
}

let chosen: Crc32Implementation | undefined;

/**
 * The order of trial. ISA-L's code for vectors of 512 bits is the quickest on AMD (4,128 bytes: 116 ns on an EPYC, where Debian 12's
 * libdeflate needs 310) and slows what follows it on Intel (1 MiB WRITEs by UDP on a Xeon of the fourth generation: 2.9 to 3.4 s of
 * processor time for 3 GB, 2.2 to 2.5 with libdeflate, 3.0 to 3.4 with @node-rs/crc32).
 */
function order(): readonly Crc32Source[] {
  const isAmd = cpus().some(({ model }) => model.startsWith('AMD'));
  return isAmd ? CRC32_SOURCES : ['libdeflate', ...CRC32_SOURCES.filter((source) => source !== 'libdeflate')];
}

function choose(loop: Crc32Function): Crc32Implementation {
  for (const source of order()) {
    const found = nativeCrc32s(loop, [source]).at(0);
    if (found !== undefined) return found;
  }
  return { source: 'javascript', crc32: loop };
}

/**
 * The quickest CRC-32 of this machine, chosen once a thread, for memory that lives as long as anybody may use it: up to 1,024 views of it
 * are kept for reuse.
 *
 * @param loop the same in TypeScript: the judge of the others, and used for short pieces, where a call costs more than it saves
 */
export function quickestCrc32(loop: Crc32Function): Crc32Implementation {
  chosen ??= choose(loop);
  return chosen;
}
