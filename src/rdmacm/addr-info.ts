import type { PortSpace, QpType } from '../spec/index.js';
import type { FullAddress, SocketAddress } from './address.js';
import { notYet } from './not-yet.js';

/** What `getAddrInfo` can be asked for (`struct rdma_addrinfo` as hints). */
export interface AddrInfoHints {
  /** The address is one's own, to listen on (RAI_PASSIVE). Default false. */
  readonly passive?: boolean;
  /** `node` is an address, no name (RAI_NUMERICHOST). Default false. */
  readonly numericHost?: boolean;
  /** Default: both. */
  readonly family?: 4 | 6;
  /** Default: RC in the port spaces TCP and IB, UD in UDP and IPOIB. */
  readonly qpType?: QpType;
  /** Default TCP. */
  readonly portSpace?: PortSpace;
  /** An active side's own address. */
  readonly src?: SocketAddress;
}

/** `struct rdma_addrinfo`: what `createEp` takes. */
export interface AddrInfo {
  readonly passive: boolean;
  readonly family: 4 | 6;
  readonly qpType: QpType;
  readonly portSpace: PortSpace;
  /** One's own address: where to listen, or where to connect from. */
  readonly src: FullAddress | undefined;
  /** The peer's. */
  readonly dst: FullAddress | undefined;
}

/**
 * Finds the addresses of a host and service (`rdma_getaddrinfo`), by `node:dns`, which asks the system as `getaddrinfo`
 * does.
 *
 * @param node a name or address; default any with `passive`, else loopback
 * @param service a port
 * @throws VerbsError EINVAL for neither node nor service, or a service that is no port; ENOENT when nobody knows the name
 */
export function getAddrInfo(node?: string, service?: string | number, hints?: AddrInfoHints): Promise<AddrInfo[]> {
  return notYet(node, service, hints);
}
