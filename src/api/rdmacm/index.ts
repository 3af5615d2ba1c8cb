/** rdma_cm: connections by address and port, as in `rdma_cma.h` and `rdma_verbs.h`, and the Node way on top. */
export {
  type ActiveAddrInfo,
  type AddrInfo,
  type AddrInfoHints,
  getAddrInfo,
  type PassiveAddrInfo,
} from './addresses/addr-info.js';
export type { CmRoute, FullAddress, ResolveAddrOptions, SocketAddress } from './addresses/address.js';
export { connect } from './connections/connect.js';
export { Connection } from './connections/connection.js';
export { createId, type CreateIdOptions } from './identifiers/create-id.js';
export { type DeviceChoice, devicesOfFamilies, deviceToward, getDevices } from './addresses/devices.js';
export { wildcardOf } from './addresses/wildcard.js';
export { acceptAsLinux, connectAsLinux, setOptionAsLinux } from './identifiers/cm-id.js';
export { createEp, type CreateEpOptions } from './identifiers/endpoint.js';
export {
  createEventChannel,
  type EventChannelOptions,
  pumpEvents,
  type RelayedEvent,
  relayEvent,
  watchEvents,
} from './events/event-channel.js';
export { ConnectionRequest } from './connections/connection-request.js';
export { listen, Listener } from './connections/listener.js';
export {
  type ConnectionOptions,
  type ConnectOptions,
  LISTEN_FIELDS,
  type ListenOptions,
  type CmConnectTarget,
  TARGET_FIELDS,
} from './connections/options.js';
export { isClientsDoing, type RequestHandler, serve, type ServeOptions } from './connections/serving.js';
export { Messages } from './calls/messages.js';
export { CmOption, type CmOptionValues, type CmEvent, type CmId, type EventChannel } from './objects.js';
export {
  type ConnParam,
  type ConnParamReceived,
  type IdQpInitAttr,
  type JoinMcAttr,
  McJoinFlag,
  RDMA_MAX_INIT_DEPTH,
  RDMA_MAX_RESP_RES,
  type UdParamReceived,
} from './identifiers/parameters.js';
export { RefusedError } from './events/event-error.js';
export { cmEventStr, rejectReasonStr } from './text.js';
