/** The transports of UCP by themselves, as UCX's UCT is one: for tools that measure them. Programs have `verbena/ucp`. */
export { BareInterface, type BareTransport } from './bare-interface.js';
export type {
  AtomicRequest,
  Capabilities,
  Completion,
  Endpoint,
  LocalPlace,
  Memory,
  Packer,
  RemotePlace,
} from '../uct/index.js';
export { AtomicOp, type PackedRkey, UcsStatus, ucsStatusName, unpackRkey } from '../wire/index.js';
