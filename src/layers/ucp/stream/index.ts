/** Bytes between endpoints, in their order. */
export { StreamEnd, type StreamReceiveOptions } from './stream-end.js';
