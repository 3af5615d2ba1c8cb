import type { CapturedMessage, Dissector } from '../../core/index.js';
import { peerProblem, SEQUENCE_MASK } from '../protocol/index.js';
import { type ByteOrder, decodeConnectionData, readSpan, SPAN_BYTES } from '../wire/connection-data.js';
import {
  Control,
  decodeIomapEntry,
  immediateProblem,
  IOMAP_ENTRY_BYTES,
  Operation,
  operationOf,
  valueOf,
} from '../wire/message.js';
import { DATAGRAM_HEADER_BYTES, hasDatagramHeader, hostInHeader, portInHeader } from '../wire/datagram.js';

const CONTROLS: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(Control).map(([name, value]) => [value, name]),
);

/** Whoever reads one message does not know in which order its numbers are; but no program has memory in the upper 2^48th of its addresses. */
function orderOf(bytes: Uint8Array, addressAt: number): ByteOrder {
  return bytes[addressAt] === 0 && bytes[addressAt + 1] === 0 && bytes[addressAt + 7] !== 0 ? 'big' : 'little';
}

function data({ byteLength }: CapturedMessage, value: number): string {
  return byteLength === undefined || byteLength === value
    ? `DATA ${value} B`
    : `DATA ${value} B, of ${byteLength} written`;
}

function credit({ payload }: CapturedMessage, value: number): string {
  const limit = `SGL, credit to ${value & SEQUENCE_MASK}`;
  if (payload.length !== SPAN_BYTES) return limit;
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  return `${limit}, buffer of ${readSpan(view, 0, orderOf(payload, 0)).length} B`;
}

function mapping({ payload }: CapturedMessage, index: number): string {
  if (payload.length !== IOMAP_ENTRY_BYTES) return `IOMAP_SGL ${index}`;
  const { offset, span } = decodeIomapEntry(payload, orderOf(payload, 8));
  return span.length === 0 ? `IOMAP_SGL ${index}, nothing` : `IOMAP_SGL ${index}, ${span.length} B at offset ${offset}`;
}

/** What is written to mapped buffers is no message, nor is what C's rsockets have for a keepalive. */
function wordless(byteLength: number | undefined): string {
  if (byteLength === 0) return 'KEEPALIVE';
  return byteLength === undefined ? 'to a mapped buffer' : `${byteLength} B to a mapped buffer`;
}

export const rsocketDissector: Dissector = {
  name: 'rsocket',

  hello(privateData) {
    const said = decodeConnectionData(privateData);
    if (said === undefined || peerProblem(said) !== undefined) return undefined;
    const { credits, data: buffer, iomapSize, byteOrder } = said;
    const mapped = iomapSize === 0 ? '' : `, ${iomapSize} mapped buffers`;
    const order = byteOrder === 'big' ? ', big-endian' : '';
    return `credit for ${credits} messages, buffer of ${buffer.length} B${mapped}${order}`;
  },

  message(message) {
    const { operation, immediate, byteLength } = message;
    if (operation !== 'WRITE') return undefined;
    if (immediate === undefined) return wordless(byteLength);
    if (immediateProblem(immediate) !== undefined) return undefined;
    const value = valueOf(immediate);
    switch (operationOf(immediate)) {
      case Operation.DATA:
        return data(message, value);
      case Operation.SGL:
        return credit(message, value);
      case Operation.IOMAP_SGL:
        return mapping(message, value);
      default:
        return CONTROLS[value];
    }
  },

  datagram({ source, payload }) {
    const version = source.includes(':') ? 6 : 4;
    // Receivers drop what is not its sender's, as well.
    if (!hasDatagramHeader(payload, version) || hostInHeader(payload) !== source) return undefined;
    return `datagram of ${payload.length - DATAGRAM_HEADER_BYTES[version]} B from port ${portInHeader(payload)}`;
  },
};
