/** The seam between the protocols of UCP and its transports, as UCT is in UCX. */
export { AmHandlers, type AmHandler } from './am-handlers.js';
export type { Capabilities, EndAddress, Way } from './capabilities.js';
export type { AtomicRequest, Completion, Endpoint, LocalPlace, Packer, RemotePlace, Waiting } from './endpoint.js';
export { Memory, MemoryDomain } from './memory-domain.js';
export { acceptRc, connectRc, type RcInterface, type RcWhere, rcWordsOf } from './rc/connecting.js';
export { UctRcEndpoint } from './rc/rc-endpoint.js';
export { operate, SelfEndpoint } from './self/self-endpoint.js';
export type { UdAddress } from './ud/addresses.js';
export { acceptUd, connectUd, udWordsOf } from './ud/connecting.js';
export type { UdDrop, UdStatistics } from './ud/counters.js';
export type { Words } from './words.js';
export { UdEndpoint } from './ud/ud-endpoint.js';
export type { UdOptions } from './ud/options.js';
export { type UdConnectOptions, UdInterface } from './ud/ud-interface.js';
// For those who read captures.
export { FlowBits, idOf, PURE_GRANT } from './rc/flow-control.js';
export { decodeHello, HELLO_BYTES } from './rc/hello.js';
export { decodeUdHello, UD_HELLO_BYTES } from './ud/hello.js';
