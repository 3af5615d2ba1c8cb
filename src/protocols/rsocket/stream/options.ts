import { countProblem, type FieldsOf, refuse } from '../../../api/verbs/index.js';
import { LOW_WATER, MAX_QUEUE, MIN_QUEUE, type Sizes } from '../protocol/index.js';
import { MAX_IOMAP_SIZE } from '../wire/connection-data.js';

/** How large a stream's queues and buffers are: what `rsetsockopt` of SOL_RDMA and SOL_SOCKET sets before a connection is there. */
export interface StreamOptions {
  /** Entries of the send queue, 16 to 65,534 (`RDMA_SQSIZE`), no more than the device has. Default 384. */
  readonly sqSize?: number | undefined;
  /** Entries of the receive queue, 16 to 65,534 (`RDMA_RQSIZE`), no more than the device has: messages that the peer may have under way. Default 384. */
  readonly rqSize?: number | undefined;
  /** Messages up to so many bytes go inline, 0 to 65,534 (`RDMA_INLINE`), no more than the device takes. Default 64. */
  readonly inlineBytes?: number | undefined;
  /** Bytes that were written, and that the peer does not have yet (`SO_SNDBUF`), 4096 to 2^30. Default 131,072. */
  readonly sendBufferBytes?: number | undefined;
  /** Bytes that have come, and that the program has not read (`SO_RCVBUF`), 4096 to 2^30: the peer writes into halves of it in turn. Default 131,072. */
  readonly receiveBufferBytes?: number | undefined;
  /** Buffers that the peer may map here for a time, 0 to 32,512 (`RDMA_IOMAPSIZE`). Default 0. */
  readonly iomapSize?: number | undefined;
}

export const STREAM_FIELDS: FieldsOf<StreamOptions> = {
  sqSize: true,
  rqSize: true,
  inlineBytes: true,
  sendBufferBytes: true,
  receiveBufferBytes: true,
  iomapSize: true,
};

const QUEUE = 384;
const INLINE_BYTES = 64;
const MAX_INLINE = 65_534;
const DEVICE_INLINE = 512;
const BUFFER_BYTES = 131_072;
const MIN_BUFFER = 2 * LOW_WATER;
const MAX_BUFFER = 2 ** 30;

/** @throws VerbsError EINVAL for numbers out of range */
export function sizesOf(call: string, options: StreamOptions): Sizes {
  const range = (name: keyof StreamOptions, otherwise: number, least: number, most: number): number => {
    const value = options[name] ?? otherwise;
    refuse(call, countProblem(name, value, least, most));
    return value;
  };
  const receiveBufferBytes = range('receiveBufferBytes', BUFFER_BYTES, MIN_BUFFER, MAX_BUFFER);
  return {
    sqSize: range('sqSize', QUEUE, MIN_QUEUE, MAX_QUEUE),
    rqSize: range('rqSize', QUEUE, MIN_QUEUE, MAX_QUEUE),
    inlineBytes: range('inlineBytes', INLINE_BYTES, 0, MAX_INLINE),
    sendBufferBytes: range('sendBufferBytes', BUFFER_BYTES, MIN_BUFFER, MAX_BUFFER),
    // In halves.
    receiveBufferBytes: receiveBufferBytes - (receiveBufferBytes % 2),
    iomapSize: range('iomapSize', 0, 0, MAX_IOMAP_SIZE),
  };
}

export function clampedSizes(sizes: Sizes, { maxQpWr }: { readonly maxQpWr: number }): Sizes {
  const { sqSize, rqSize, inlineBytes } = sizes;
  return {
    ...sizes,
    sqSize: Math.min(sqSize, maxQpWr),
    rqSize: Math.min(rqSize, maxQpWr),
    inlineBytes: Math.min(inlineBytes, DEVICE_INLINE),
  };
}
