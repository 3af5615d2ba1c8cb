/** The machine: system calls, memory by its address, clocks, random numbers, quick checksums. */
export { nowUs, wallClockNs } from './clock.js';
export { createCrc32, type Crc32Function } from './crc32.js';
export { EventFd } from './event-fd.js';
export { canNailDown, isShared, nailDown } from './lasting-memory.js';
export { addressOf, type Memory, NativeBlock, viewOf } from './memory.js';
export { type InterfaceFacts, interfaceFacts } from './interface.js';
export { type InterfaceAddress, interfaceAddresses } from './interface-addresses.js';
export { ANCILLARY_BYTES, MessageBlock, MSG_TRUNC } from './message-block.js';
export { type LibC, type NativeHost, nativeHost, nativeHostProblem, requireNativeHost } from './native.js';
export { PacketSocket } from './packet-socket.js';
export { PollSet } from './poll-set.js';
export { randomU32 } from './random.js';
export { type ReadableWatch, watchReadable } from './readiness.js';
export { allocateFile, isLocked, lockByte, lockFile, releaseFile, SharedMapping, unlockByte } from './shared-memory.js';
export {
  SOCKADDR_BYTES,
  SOCKADDR_FLOW_OFFSET,
  type SocketAddress,
  sockaddrIpOffset,
  sockaddrLength,
  UdpSocket,
  writeSockaddr,
} from './socket.js';
export { type OwnAddress, ownAddresses, sourceToward } from './routes.js';
export { requireDescriptors } from './spare-descriptors.js';
export { errnoName, SystemCallError } from './system-error.js';
export { yieldProcessor } from './yield.js';
