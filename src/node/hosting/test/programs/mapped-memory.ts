/**
 * `mapped-memory BYTES`: maps so many bytes, and says where. Told to unmap a part, or to say what lies there, it does; told to
 * end, it ends.
 */
import { requireNativeHost, viewOf } from '../../../system/index.js';

const PROT_READ_AND_WRITE = 3;
const MAP_PRIVATE_AND_ANONYMOUS = 0x22;

const lengthBytes = Number(process.argv[2]);
const { libc } = requireNativeHost();
const address = libc.mmap(0, lengthBytes, PROT_READ_AND_WRITE, MAP_PRIVATE_AND_ANONYMOUS, -1, 0);
const bytes = viewOf(address, lengthBytes);

interface Order {
  readonly fill?: readonly number[];
  readonly unmap?: { readonly offset: number; readonly length: number };
  readonly show?: { readonly offset: number; readonly length: number };
}

process.on('message', ({ fill, unmap, show }: Order) => {
  if (fill !== undefined) bytes.set(fill);
  if (unmap !== undefined) libc.munmap(address + unmap.offset, unmap.length);
  const shown = show === undefined ? [] : [...bytes.subarray(show.offset, show.offset + show.length)];
  process.send?.(shown);
});
process.send?.(address);
