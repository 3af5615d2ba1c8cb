/** Bytes between endpoints, in their order. */
export { StreamEnd, type StreamReceiveOptions } from './stream-end.js';
export { Streams } from './streams.js';
