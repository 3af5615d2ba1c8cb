/** The seam between the protocols of UCP and its transports, as UCT is in UCX. */
export {
  AmHandlers,
  type AmHandler,
  type AtomicRequest,
  type Completion,
  type Endpoint,
  type LocalPlace,
  type Packer,
  type RemotePlace,
  type Waiting,
} from './endpoint.js';
export type { Capabilities, EndAddress, Way } from './capabilities.js';
export { Memory, MemoryDomain } from './memory-domain.js';
export { acceptRc, connectRc, type RcInterface, type RcWhere, rcWordsOf } from './rc/connecting.js';
export { UctRcEndpoint } from './rc/rc-endpoint.js';
export { operate, SelfEndpoint } from './self/self-endpoint.js';
export type { UdAddress } from './ud/addresses.js';
export { acceptUd, connectUd, udWordsOf } from './ud/connecting.js';
export type { UdDrop, UdStatistics } from './ud/counters.js';
export { type Words, decodeHello, HELLO_BYTES, decodeUdHello, UD_HELLO_BYTES } from './hello.js';
export { UdEndpoint } from './ud/ud-endpoint.js';
export type { UdOptions } from './ud/options.js';
export { type UdConnectOptions, UdInterface } from './ud/ud-interface.js';
// For those who read captures.
export { FlowBits, idOf, PURE_GRANT } from './rc/flow-control.js';
