import { UcpDatatype } from '../../worker/datatype.js';
import type { UcpData } from '../../worker/pieces.js';

/** Bytes that the program packs and unpacks by itself, some at a time. */
const BY_ITSELF = new UcpDatatype<Uint8Array>({
  startPack: (from) => ({
    packedSize: from.length,
    pack: (offset, into) => {
      const part = from.subarray(offset, offset + Math.min(into.length, 1000));
      into.set(part);
      return part.length;
    },
  }),
  startUnpack: (into) => ({ packedSize: into.length, unpack: (bytes) => into.set(bytes) }),
});

export function formOf(memory: Uint8Array, isTyped: boolean): UcpData {
  return isTyped ? BY_ITSELF.of(memory) : memory;
}
