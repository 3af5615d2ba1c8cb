import { mtuBytes } from '../../../device/ibta/index.js';
import type { Context } from '../../../api/verbs/index.js';
import { DATAGRAM_HEADER_BYTES, MAX_DATAGRAM } from '../wire/datagram.js';

const PORT_NUM = 1;
const MAX_QUEUE = 0xfffe;

export interface DatagramSizes {
  readonly sqSize: number;
  readonly rqSize: number;
  readonly sendBufferBytes: number;
  readonly receiveBufferBytes: number;
}

/** As many requests as the queues and the buffers have room for, whichever is less. */
export function granted(asked: DatagramSizes, context: Context): { readonly sends: number; readonly receives: number } {
  const most = Math.min(context.queryDevice().maxQpWr, MAX_QUEUE);
  const fitting = (queue: number, bufferBytes: number): number =>
    Math.max(1, Math.min(queue, Math.floor(bufferBytes / MAX_DATAGRAM), most));
  return {
    sends: fitting(asked.sqSize, asked.sendBufferBytes),
    receives: fitting(asked.rqSize, asked.receiveBufferBytes),
  };
}

/** Bytes that a datagram of a program has at most: one packet carries it, with its header. */
export function maxPayload(context: Context, version: 4 | 6): number {
  const { activeMtu } = context.queryPort(PORT_NUM);
  return Math.min(MAX_DATAGRAM, mtuBytes(activeMtu)) - DATAGRAM_HEADER_BYTES[version];
}
