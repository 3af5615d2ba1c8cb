/** RoCEv2 on the wire: codecs, ICRC, capture files. Pure functions over bytes; nothing of Node. */
export * from './bytes.js';
export * from './bth.js';
export * from './crc32.js';
export * from './headers.js';
export * from './icrc.js';
export * from './icrc-verifier.js';
export * from './opcode.js';
export * from './path.js';
