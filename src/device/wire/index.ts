/** RoCEv2 on the wire: codecs, ICRC, capture files. Pure functions over bytes; nothing of Node. */
export * from './bytes.js';
export * from './struct.js';
export * from './packets/bth.js';
export * from './packets/headers.js';
export * from './packets/opcode.js';
export * from './ip/path.js';
export {
  type Family,
  familyOf,
  gidKey,
  isAddressText,
  isAny,
  isGroup,
  isLoopback,
  isMulticastGid,
  MULTICAST_QPN,
  plainAddress,
} from './ip/ip-address.js';
export { crc32, type Crc32 } from './icrc/crc32.js';
export * from './icrc/icrc.js';
export * from './icrc/icrc-verifier.js';
export * from './packets/packet.js';
export * from './packets/packet-text.js';
export * from './ip/ip.js';
export * from './ip/locate.js';
export * from './mad.js';
export * from './cm/index.js';
export { CaptureFrames, CaptureReader, readCapture } from './captures/capture.js';
export { CaptureError, type CaptureRecord, Direction } from './captures/capture-format.js';
export { FlowTable } from './captures/flows.js';
export { PacketCursor } from './captures/packet-cursor.js';
export { PacketBit, PacketTable } from './captures/packet-table.js';
export { IcrcVerdict, PacketView, Shape } from './captures/packet-view.js';
export { pcapngHeader, type PcapngHeaderOptions, pcapngPacket, type PcapngPacketOptions } from './captures/pcapng.js';
export { segmentsOf } from './captures/segments.js';
export { SkippedFrames, type SkippedReason } from './captures/skipped.js';
