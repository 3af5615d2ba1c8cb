import type { Endpoint as Transport } from '../uct/index.js';
import { type AmId, type UcsStatus } from '../wire/index.js';

/** Bytes of data that a message has room for behind its fields. */
export function roomBehind(transport: Transport, layout: { readonly bytes: number }): number {
  return transport.capabilities.am.bcopy - layout.bytes;
}

/** Sends a message, short where that can be. */
export function sendMessage(transport: Transport, id: AmId, head: Uint8Array, data: Uint8Array): UcsStatus {
  if (head.length + data.length <= transport.capabilities.am.short) return transport.amShort(id, head, data);
  const pack = (into: Uint8Array): number => {
    into.set(head);
    into.set(data, head.length);
    return head.length + data.length;
  };
  return transport.amBcopy(id, { pack });
}
