import {
  type DeviceMemory,
  DeviceMemoryBase,
  invalid,
  refuse,
  type RegistrableMemory,
  unsupported,
  VerbsError,
} from '../../../../api/verbs/index.js';

/** Whether it is a buffer of either kind and of whichever realm. */
function isBuffer(memory: object): memory is ArrayBufferLike {
  // eslint-disable-next-line no-restricted-globals -- where nobody knows it, nothing is of that kind
  for (const prototype of [() => ArrayBuffer.prototype, () => SharedArrayBuffer.prototype]) {
    try {
      // The language says that this throws for anything but such a buffer.
      Reflect.get(prototype(), 'byteLength', memory);
      return true;
    } catch {
      // Not of this kind.
    }
  }
  return false;
}

/**
 * The bytes of what a program wants to register.
 *
 * @throws VerbsError EINVAL when it is no memory, detached, or without a byte
 */
export function bytesOf(call: string, memory: RegistrableMemory | DeviceMemory): Uint8Array {
  if (memory instanceof DeviceMemoryBase)
    refuse(call, unsupported('memory of a device cannot take the place of memory of the program', 'Register it anew'));
  if (!ArrayBuffer.isView(memory) && !isBuffer(memory))
    throw new VerbsError(
      call,
      invalid('that is not memory', 'Give an ArrayBuffer, a SharedArrayBuffer or a view of one'),
    );
  const { byteLength } = memory;
  let bytes;
  try {
    // Of that length whatever becomes of the buffer: a growable one would otherwise take the region with it.
    bytes = ArrayBuffer.isView(memory)
      ? new Uint8Array(memory.buffer, memory.byteOffset, byteLength)
      : new Uint8Array(memory, 0, byteLength);
  } catch (error) {
    const problem = invalid('the memory is detached: it was transferred away', 'Register it before, or use alloc()');
    throw new VerbsError(call, problem, { cause: error });
  }
  if (bytes.length === 0) refuse(call, invalid('the memory has no bytes', 'It needs at least one'));
  return bytes;
}
