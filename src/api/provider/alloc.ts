import { runtime } from '../runtime/index.js';
import { type AllocOptions, type FieldsOf, fieldsProblem, invalid, refuse } from '../verbs/index.js';

const FIELDS: FieldsOf<AllocOptions> = { align: true };
const PAGE = 4096;
const MAX_ALIGN = 1 << 21;

/**
 * Memory for registration that can never be detached, resized, moved or freed while anybody has it, and that every
 * thread may hold; in a page of a browser ordinary memory, which is enough for a simulation. The call has no C twin; it
 * stands where programs use `posix_memalign`.
 *
 * @param length bytes, at least 1
 * @throws VerbsError EINVAL for a length or alignment that is none; ENOMEM when there is no room
 */
export function alloc(length: number, options: AllocOptions = {}): Uint8Array {
  refuse('alloc', fieldsProblem('options', options, FIELDS));
  const { align = PAGE } = options;
  if (!Number.isSafeInteger(length) || length < 1)
    refuse('alloc', invalid(`length is ${String(length)}`, 'It is a number of bytes from 1 on'));
  if (!Number.isInteger(align) || align < 1 || align > MAX_ALIGN || (align & (align - 1)) !== 0)
    refuse('alloc', invalid(`align is ${String(align)}`, `It is a power of two up to ${MAX_ALIGN}`));
  let buffer;
  try {
    // Nobody gives aligned memory, so there is enough of it to begin at an aligned address within.
    buffer = runtime().memory(length + align - 1);
  } catch {
    refuse('alloc', { errno: 'ENOMEM', message: `no memory for ${length} bytes`, advice: 'Ask for less' });
    throw new Error('unreachable');
  }
  const past = (runtime().addressOf(buffer) ?? 0) % align;
  return new Uint8Array(buffer, past === 0 ? 0 : align - past, length);
}
