/** What clients and servers of the key-value store say to each other, byte for byte. */
export * from './key-status.js';
export * from './hello.js';
export * from './layout.js';
export * from './named-numbers.js';
export * from './operations.js';
export * from './packing.js';
export * from './request.js';
export * from './response.js';
