/** The machine: system calls, memory by its address, clocks, random numbers, quick checksums. */
export { nowUs, wallClockNs } from './clock.js';
export * from './crc32.js';
export { EventFd } from './waiting/event-fd.js';
export { canNailDown, isShared, nailDown } from './memory/lasting-memory.js';
export { addressOf, keepArenas, type Memory, NativeBlock, viewOf } from './memory/memory.js';
export { AddressSpace, ProcessMemory } from './memory/process-memory.js';
export { type InterfaceFacts, interfaceFacts } from './interfaces/interface.js';
export { type InterfaceAddress, interfaceAddresses } from './interfaces/interface-addresses.js';
export { ANCILLARY_BYTES, MessageBlock, MSG_TRUNC } from './sockets/message-block.js';
export {
  type LibC,
  type NativeHost,
  nativeHost,
  nativeHostProblem,
  requireNativeHost,
  errnoName,
  SystemCallError,
} from './native.js';
export { PacketSocket } from './sockets/packet-socket.js';
export { PollSet, watchReadable } from './waiting/poll-set.js';
export { inRootContext, type ReadableWatch } from './waiting/loop-watch.js';
export { randomU32 } from './random.js';
export * from './memory/shared-memory.js';
export * from './sockets/socket.js';
export { type OwnAddress, ownAddresses, sourceToward } from './interfaces/routes.js';
export { requireDescriptors } from './descriptor.js';
export { isOff, SWITCH_ADVICE, switchProblem } from './switches.js';
export { leaveProcessor, setTimeSlice, yieldProcessor } from './waiting/time-slice.js';
export { BpfProgram, type Jumps } from './seccomp/bpf.js';
export { type CallId, NotifiedCalls } from './seccomp/notified-calls.js';
export { auditArch, hasUserNotification, installFilter, SeccompData, Verdict } from './seccomp/seccomp.js';
export { readProcess, writeProcess, blockedCall, type BlockedCall } from './processes/process-bytes.js';
export * from './processes/children.js';
export { callRestart, type Restart } from './processes/restart.js';
export { prepareToSpawn, spawnProgram } from './processes/spawn.js';
export { blockSignals, isThreadThere, ownThread, threadsUnderFilter } from './threads.js';
export { arePinnable, canPin, ListedMappings, type Mapping, type Mappings } from './processes/mappings.js';
export { MemoryFile } from './files/memory-file.js';
export { RecordPair } from './sockets/record-pair.js';
