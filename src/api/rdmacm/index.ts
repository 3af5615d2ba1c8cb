/** rdma_cm: connections by address and port, as in `rdma_cma.h` and `rdma_verbs.h`, and the Node way on top. */
export {
  type ActiveAddrInfo,
  type AddrInfo,
  type AddrInfoHints,
  getAddrInfo,
  type PassiveAddrInfo,
} from './addresses/addr-info.js';
export type { FullAddress, SocketAddress } from './addresses/address.js';
export type { CmRoute, ResolveAddrOptions } from './addresses/addressing.js';
export { CmId } from './identifiers/cm-id.js';
export { connect, type ConnectionOptions, type ConnectOptions } from './connections/connect.js';
export { Connection } from './connections/connection.js';
export { createId, type CreateIdOptions } from './identifiers/create-id.js';
export { type DeviceChoice, getDevices } from './addresses/devices.js';
export { createEp, type CreateEpOptions } from './identifiers/endpoint.js';
export type { CmEvent } from './events/event.js';
export { createEventChannel, EventChannel, type EventChannelOptions } from './events/event-channel.js';
export { ConnectionRequest } from './connections/connection-request.js';
export { listen, Listener, type ListenOptions } from './connections/listener.js';
export type { RequestHandler, ServeOptions } from './connections/serving.js';
export { Messages } from './connections/messages.js';
export { type JoinMcAttr, McJoinFlag } from './identifiers/multicast.js';
export { CmOption, type CmOptionValues } from './identifiers/options.js';
export {
  type ConnParam,
  type ConnParamReceived,
  type IdQpInitAttr,
  RDMA_MAX_INIT_DEPTH,
  RDMA_MAX_RESP_RES,
  type UdParamReceived,
} from './identifiers/parameters.js';
export { RefusedError } from './refused-error.js';
export { cmEventStr, rejectReasonStr } from './text.js';
