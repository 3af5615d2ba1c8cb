import { type FieldsOf, wholeNumber } from '../../../api/verbs/index.js';
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

const QUEUE_ENTRIES = wholeNumber(MIN_QUEUE, MAX_QUEUE);
const BUFFER_BYTES = wholeNumber(2 * LOW_WATER, 2 ** 30);
export const STREAM_FIELDS: FieldsOf<StreamOptions> = {
  sqSize: QUEUE_ENTRIES,
  rqSize: QUEUE_ENTRIES,
  inlineBytes: wholeNumber(0, 65_534),
  sendBufferBytes: BUFFER_BYTES,
  receiveBufferBytes: BUFFER_BYTES,
  iomapSize: wholeNumber(0, MAX_IOMAP_SIZE),
};

const DEVICE_INLINE = 512;

/** @param options whose fields were checked */
export function sizesOf(options: StreamOptions): Sizes {
  const { sqSize = 384, rqSize = 384, inlineBytes = 64, iomapSize = 0 } = options;
  const { sendBufferBytes = 131_072, receiveBufferBytes = 131_072 } = options;
  // The peer writes into halves.
  return { sqSize, rqSize, inlineBytes, sendBufferBytes, receiveBufferBytes: receiveBufferBytes & ~1, iomapSize };
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
