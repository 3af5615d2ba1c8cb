import { invalid, refuse, type RegistrableMemory, VerbsError } from '../../../verbs/index.js';

/** Bytes of a buffer of either kind and of whichever realm, or undefined for anything else. */
function lengthOfBuffer(memory: unknown): number | undefined {
  // eslint-disable-next-line no-restricted-globals -- where nobody knows it, nothing is of that kind
  for (const prototype of [() => ArrayBuffer.prototype, () => SharedArrayBuffer.prototype]) {
    try {
      // The language says that this throws for anything but such a buffer.
      return Reflect.get(prototype(), 'byteLength', memory);
    } catch {
      // Not of this kind.
    }
  }
  return undefined;
}

/**
 * The bytes of what a program wants to register.
 *
 * @throws VerbsError EINVAL when it is no memory, detached, or without a byte
 */
export function bytesOf(call: string, memory: RegistrableMemory): Uint8Array {
  const length = ArrayBuffer.isView(memory) ? memory.byteLength : lengthOfBuffer(memory);
  if (length === undefined)
    refuse(call, invalid('that is not memory', 'Give an ArrayBuffer, a SharedArrayBuffer or a view of one'));
  let bytes;
  try {
    // Of that length whatever becomes of the buffer: a growable one would otherwise take the region with it.
    bytes = ArrayBuffer.isView(memory)
      ? new Uint8Array(memory.buffer, memory.byteOffset, length)
      : new Uint8Array(memory, 0, length);
  } catch (error) {
    const problem = invalid('the memory is detached: it was transferred away', 'Register it before, or use alloc()');
    throw new VerbsError(call, problem, { cause: error });
  }
  if (bytes.length === 0) refuse(call, invalid('the memory has no bytes', 'It needs at least one'));
  return bytes;
}
