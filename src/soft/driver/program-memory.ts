import { invalid, refuse, type RegistrableMemory, VerbsError } from '../../verbs/index.js';

function isMemory(memory: unknown): boolean {
  return ArrayBuffer.isView(memory) || memory instanceof ArrayBuffer || memory instanceof SharedArrayBuffer;
}

/**
 * The bytes of what a program wants to register.
 *
 * @throws VerbsError EINVAL when it is no memory, detached, or without a byte
 */
export function bytesOf(call: string, memory: RegistrableMemory): Uint8Array {
  if (!isMemory(memory))
    refuse(call, invalid('that is no memory', 'Give an ArrayBuffer, a SharedArrayBuffer or a view of one'));
  let bytes;
  try {
    bytes = ArrayBuffer.isView(memory)
      ? new Uint8Array(memory.buffer, memory.byteOffset, memory.byteLength)
      : new Uint8Array(memory);
  } catch (error) {
    const problem = invalid('the memory is detached: it was transferred away', 'Register it before, or use alloc()');
    throw new VerbsError(call, problem, { cause: error });
  }
  if (bytes.length === 0) refuse(call, invalid('the memory has no bytes', 'It needs at least one'));
  return bytes;
}
