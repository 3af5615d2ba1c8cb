/** CRC-32 as quick as the machine allows. */
import { createRequire } from 'node:module';
import * as zlib from 'node:zlib';

/** The running CRC-32 (zlib's convention, as int32) after `length` bytes from `offset`, begun with `crc`. */
export type Crc32Function = (bytes: Uint8Array, offset: number, length: number, crc: number) => number;

/** A whole view at a time, as packages offer it; takes a signed number, and gives one that may be unsigned. */
type ViewCrc32 = (bytes: Uint8Array, crc: number) => number;

/**
 * From so many bytes on, a call into native code is quicker than the loop: the call costs 0.1 us whatever the length, the
 * loop 1 ns a byte (measured with @node-rs/crc32 1.10 and zlib on Node 20; they break even between 96 and 144 bytes).
 */
const NATIVE_FROM_BYTES = 128;

/** A power of two. Packets lie at the same places of the same arenas again and again, so most calls find their view. */
const VIEWS = 1024;

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
  // Node has it since 20.15 and 22.2; its declarations are those of one that has.
  const { crc32 } = zlib as Partial<typeof zlib>;
  return crc32 === undefined ? undefined : (bytes, crc) => crc32(bytes, crc >>> 0);
}

/** Gives native code, which takes whole views only, parts of a view, without making a new view for each call. */
function withViews(native: ViewCrc32, loop: Crc32Function): Crc32Function {
  const none = new Uint8Array(0);
  const owners = new Array<Uint8Array>(VIEWS).fill(none);
  const views = new Array<Uint8Array>(VIEWS).fill(none);
  const offsets = new Int32Array(VIEWS);
  return (bytes, offset, length, crc) => {
    if (length < NATIVE_FROM_BYTES) return loop(bytes, offset, length, crc);
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
 * The quickest CRC-32 there is on this machine, for memory that lives as long as anybody may use it: views of it are kept
 * for reuse, up to 1024.
 *
 * @param loop the same in TypeScript, used for short pieces, where calling out costs more than it saves
 */
export function createCrc32(loop: Crc32Function): Crc32Function {
  const native = nodeRsCrc32() ?? zlibCrc32();
  return native === undefined ? loop : withViews(native, loop);
}
