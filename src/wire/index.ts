/** RoCEv2 on the wire: codecs, ICRC, capture files. Pure functions over bytes; nothing of Node. */
export * from './bytes.js';
export * from './bth.js';
export * from './headers.js';
export * from './opcode.js';
export * from './path.js';
export { crc32, type Crc32 } from './crc32.js';
export * from './icrc.js';
export * from './icrc-verifier.js';
export * from './packet.js';
export * from './packet-text.js';
export * from './ip.js';
export { isMulticastGid, MULTICAST_QPN } from './multicast.js';
export * from './frame.js';
export * from './mad.js';
export * from './cm/index.js';
export { CaptureReader, readCapture } from './capture.js';
export { CaptureError, type CaptureRecord } from './capture-format.js';
export { pcapngHeader, type PcapngHeaderOptions, pcapngPacket, type PcapngPacketOptions } from './pcapng.js';
