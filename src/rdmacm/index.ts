/** rdma_cm: connections by address and port, as in `rdma_cma.h` and `rdma_verbs.h`, and the Node way on top. */
export {
  type ActiveAddrInfo,
  type AddrInfo,
  type AddrInfoHints,
  getAddrInfo,
  type PassiveAddrInfo,
} from './addr-info.js';
export type { FullAddress, SocketAddress } from './address.js';
export type { CmRoute, ResolveAddrOptions } from './addressing.js';
export { CmId } from './cm-id.js';
export { connect, type ConnectionOptions, type ConnectOptions } from './connect.js';
export { Connection } from './connection.js';
export { createId, type CreateIdOptions } from './create-id.js';
export { type DeviceChoice, getDevices } from './devices.js';
export { createEp, type CreateEpOptions } from './endpoint.js';
export type { CmEvent } from './event.js';
export { createEventChannel, EventChannel, type EventChannelOptions } from './event-channel.js';
export { ConnectionRequest } from './connection-request.js';
export { listen, Listener, type ListenOptions } from './listener.js';
export type { RequestHandler, ServeOptions } from './serving.js';
export { Messages } from './messages.js';
export { type JoinMcAttr, McJoinFlag } from './multicast.js';
export { CmOption, type CmOptionValues } from './options.js';
export {
  type ConnParam,
  type ConnParamReceived,
  type IdQpInitAttr,
  RDMA_MAX_INIT_DEPTH,
  RDMA_MAX_RESP_RES,
  type UdParamReceived,
} from './parameters.js';
export { RefusedError } from './refused-error.js';
export { cmEventStr, rejectReasonStr } from './text.js';
