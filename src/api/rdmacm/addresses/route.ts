import type { Gid, Mtu } from '../../../device/ibta/index.js';
import type { SocketAddress } from './address.js';

/** What is known of the way to the peer (`struct rdma_route`). */
export interface CmRoute {
  readonly localGid: Gid | undefined;
  readonly remoteGid: Gid | undefined;
  /** Once the route is resolved. */
  readonly pathMtu: Mtu | undefined;
}

/** How `resolveAddr` can be asked. */
export interface ResolveAddrOptions {
  /** An address of one's own to connect from. Default: that of the device which leads there. */
  readonly source?: SocketAddress | undefined;
  /** Taken as librdmacm takes it: here the way is known at once, or never. */
  readonly timeoutMs?: number | undefined;
}
