/** What rsockets say to each other, byte for byte: pure functions. */
export * from './connection-data.js';
export * from './datagram.js';
export * from './message.js';
export { type ByteOrder, readSpan, type Span, SPAN_BYTES, writeSpan } from './span.js';
